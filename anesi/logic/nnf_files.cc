// Circuits as c2d and D4 write them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/circuit_reading.h"

namespace anesi {
namespace {

using Part = CircuitBuilder::Part;

class C2dReader {
 public:
  C2dReader(std::string_view text, const std::string& name, int variables)
      : words_(text, name), variables_(variables) {}

  Circuit read() {
    std::string_view first;
    next_line_but_comments(words_, first);  // it is `nnf`
    const auto nodes = words_.next_number("the number of nodes", 1, kMostNodesOfFiles);
    const auto edges = words_.next_number("the number of edges", 0, kMostEdgesOfFiles);
    const auto named = words_.next_number("the number of variables", 1, kMostVariablesOfFiles);
    words_.expect_end();
    if (variables_ == 0) variables_ = named;
    if (variables_ < named) words_.fail(fmt::format("{} variables where there should be {}", named, variables_));
    CircuitBuilder builder(variables_);
    while (next_line_but_comments(words_, first)) {
      expect_one_more(words_, parts_.size(), nodes);
      parts_.push_back(read_node(first, builder));
    }
    expect_all(words_, parts_.size(), nodes);
    if (edges_ != edges) words_.fail(fmt::format("the header says {} edges, there are {}", edges, edges_));
    return build_whole(words_, builder, parts_.back());
  }

 private:
  Part read_node(std::string_view kind, CircuitBuilder& builder) {
    if (kind == "L") {
      const auto literal = words_.next_number("a literal", -variables_, variables_);
      if (literal == 0) words_.fail("there is no literal 0");
      words_.expect_end();
      return build_at(words_, words_.line(), [&] { return builder.literal(literal); });
    }
    if (kind != "A" && kind != "O") {
      words_.fail(fmt::format("a node should begin with L, A or O, not {}", FileWords::shown(kind)));
    }
    if (kind == "O") words_.next_number("the variable that is decided", 0, variables_);
    auto count = words_.next_number("the number of parts", 0, kMostEdgesOfFiles);
    std::vector<Part> parts;
    for (; count > 0; --count) {
      if (parts_.empty()) words_.fail("a node that has parts before there are any");
      parts.push_back(parts_[static_cast<std::size_t>(
          words_.next_number("a part (nodes before this one)", 0, static_cast<int>(parts_.size()) - 1))]);
      ++edges_;
    }
    words_.expect_end();
    return build_at(words_, words_.line(),
                    [&] { return kind == "A" ? builder.product(std::move(parts)) : builder.sum(std::move(parts)); });
  }

  FileWords words_;
  int variables_;
  std::int64_t edges_ = 0;
  std::vector<Part> parts_;  // of the nodes so far
};

class D4Reader {
 public:
  D4Reader(std::string_view text, const std::string& name, int variables) : words_(text, name), variables_(variables) {}

  Circuit read() {
    const int most = variables_ > 0 ? variables_ : kMostVariablesOfFiles;
    std::string_view first;
    while (next_line_but_comments(words_, first)) {
      if (first == "o" || first == "a" || first == "t" || first == "f") {
        read_node(first[0]);
      } else {
        read_edge(first, most);
      }
    }
    if (variables_ == 0) variables_ = largest_variable_;
    if (variables_ == 0) words_.fail("no variable is named; say how many there are");
    const auto root = places_.find(1);
    if (root == places_.end()) words_.fail("there is no node 1, the root");
    CircuitBuilder builder(variables_);
    std::vector<Part> parts(nodes_.size(), CircuitBuilder::kFalse);
    for (const auto place : parts_before_wholes()) parts[place] = part_of(nodes_[place], parts, builder);
    return build_whole(words_, builder, parts[root->second]);
  }

 private:
  struct Node {
    char kind;
    std::int64_t line;
    std::size_t begin = 0, end = 0;  // of its edges_, once they are in order
  };
  struct Edge {
    std::size_t whole, part;  // names in the file, and then places of nodes
    std::size_t begin, end;   // of literals_
    std::int64_t line;
  };

  void read_node(char kind) {
    const auto id = words_.next_number("a node", 1, kLargestId);
    words_.next_number("the 0 that ends a node", 0, 0);
    words_.expect_end();
    if (!places_.try_emplace(id, nodes_.size()).second) words_.fail(fmt::format("node {} is declared twice", id));
    if (nodes_.size() == kMostNodesOfFiles) words_.fail(fmt::format("more than {} nodes", kMostNodesOfFiles));
    nodes_.push_back({kind, words_.line()});
  }

  void read_edge(std::string_view first, int most) {
    const auto from = words_.number_of(first, "a line's first word (o, a, t, f or a node)", 1, kLargestId);
    const auto to = words_.next_number("a node", 1, kLargestId);
    const auto begin = literals_.size();
    for (int literal = 0; (literal = words_.next_number("a literal", -most, most)) != 0;) {
      literals_.push_back(literal);
      largest_variable_ = std::max(largest_variable_, std::abs(literal));
    }
    words_.expect_end();
    edges_.push_back(
        {static_cast<std::size_t>(from), static_cast<std::size_t>(to), begin, literals_.size(), words_.line()});
  }

  std::size_t place_of(std::size_t id, std::int64_t line) const {
    const auto found = places_.find(static_cast<int>(id));
    if (found == places_.end()) words_.fail_at(line, fmt::format("there is no node {}", id));
    return found->second;
  }

  // Puts the edges of each node together, in the file's order.
  void sort_edges() {
    for (auto& edge : edges_) {
      const auto id = edge.whole;
      edge.whole = place_of(id, edge.line);
      edge.part = place_of(edge.part, edge.line);
      if (nodes_[edge.whole].kind == 't' || nodes_[edge.whole].kind == 'f') {
        words_.fail_at(edge.line, fmt::format("node {} is true or false and has no parts", id));
      }
    }
    std::ranges::stable_sort(edges_, {}, &Edge::whole);
    for (std::size_t index = 0; index < edges_.size(); ++index) {
      auto& node = nodes_[edges_[index].whole];
      if (node.end == 0) node.begin = index;
      node.end = index + 1;
    }
  }

  std::span<const Edge> edges_of(const Node& node) const {
    return std::span(edges_).subspan(node.begin, node.end - node.begin);
  }

  // The nodes, each after those it is built of, whatever their order in the file.
  std::vector<std::size_t> parts_before_wholes() {
    sort_edges();
    std::vector<std::size_t> by_part(edges_.size());  // edges
    std::iota(by_part.begin(), by_part.end(), std::size_t{0});
    const auto part = [&](std::size_t edge) { return edges_[edge].part; };
    std::ranges::sort(by_part, {}, part);
    std::vector<std::size_t> left(nodes_.size()), order;
    for (std::size_t place = 0; place < nodes_.size(); ++place) {
      left[place] = edges_of(nodes_[place]).size();
      if (left[place] == 0) order.push_back(place);
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
      auto edge = std::ranges::lower_bound(by_part, order[next], {}, part);
      for (; edge != by_part.end() && part(*edge) == order[next]; ++edge) {
        const auto whole = edges_[*edge].whole;
        if (--left[whole] == 0) order.push_back(whole);
      }
    }
    if (order.size() < nodes_.size()) fail_at_cycle(left);
    return order;
  }

  // Each node with something left has a part with something left; going there as often as there are nodes ends in a
  // cycle.
  [[noreturn]] void fail_at_cycle(const std::vector<std::size_t>& left) const {
    auto at = static_cast<std::size_t>(std::ranges::find_if(left, [](auto count) { return count > 0; }) - left.begin());
    for (std::size_t step = 0; step < nodes_.size(); ++step) {
      at = std::ranges::find_if(edges_of(nodes_[at]), [&](const Edge& edge) { return left[edge.part] > 0; })->part;
    }
    words_.fail_at(nodes_[at].line, "this node is a part of itself");
  }

  Part part_of(const Node& node, const std::vector<Part>& parts, CircuitBuilder& builder) const {
    if (node.kind == 't') return CircuitBuilder::kTrue;
    if (node.kind == 'f') return CircuitBuilder::kFalse;
    std::vector<Part> terms;
    for (const auto& edge : edges_of(node)) {
      std::vector<Part> factors{parts[edge.part]};
      for (auto place = edge.begin; place < edge.end; ++place) factors.push_back(builder.literal(literals_[place]));
      terms.push_back(build_at(words_, edge.line, [&] { return builder.product(std::move(factors)); }));
    }
    return build_at(words_, node.line, [&] {
      return node.kind == 'o' ? builder.sum(std::move(terms)) : builder.product(std::move(terms));
    });
  }

  FileWords words_;
  int variables_, largest_variable_ = 0;
  std::vector<Node> nodes_;
  std::unordered_map<int, std::size_t> places_;  // of nodes, by their names in the file
  std::vector<Edge> edges_;
  std::vector<int> literals_;
};

}  // namespace

Circuit read_nnf(const std::filesystem::path& path, int variables) {
  return parse_nnf(read_text(path), path.string(), variables);
}

Circuit parse_nnf(std::string_view text, const std::string& name, int variables) {
  if (variables < 0 || variables > kMostVariablesOfFiles) {
    throw Error(
        fmt::format("{}: circuits of at most {} variables are read, not {}", name, kMostVariablesOfFiles, variables));
  }
  FileWords words(text, name);
  std::string_view first;
  if (!next_line_but_comments(words, first)) words.fail("the file is empty");
  if (first == "nnf") return C2dReader(text, name, variables).read();
  constexpr std::array<std::string_view, 4> kD4{"o", "a", "t", "f"};
  if (std::ranges::find(kD4, first) == kD4.end()) {
    words.fail(fmt::format("a circuit should begin with 'nnf' (c2d) or one of o, a, t, f (D4), not {}",
                           FileWords::shown(first)));
  }
  return D4Reader(text, name, variables).read();
}

std::string to_nnf(const Circuit& circuit) {
  if (!circuit.satisfiable()) return fmt::format("nnf 1 0 {}\nO 0 0\n", circuit.variables());
  std::size_t edges = 0;
  for (std::int64_t node = 0; node < circuit.nodes(); ++node) edges += circuit.parts(node).size();
  auto text = fmt::format("nnf {} {} {}\n", circuit.nodes(), edges, circuit.variables());
  auto out = std::back_inserter(text);
  for (std::int64_t node = 0; node < circuit.nodes(); ++node) {
    if (circuit.kind(node) == Circuit::Kind::kLiteral) {
      fmt::format_to(out, "L {}\n", circuit.literal(node));
      continue;
    }
    const auto parts = circuit.parts(node);
    fmt::format_to(out, "{} {}", circuit.kind(node) == Circuit::Kind::kProduct ? "A" : "O 0", parts.size());
    for (const auto part : parts) fmt::format_to(out, " {}", part);
    text += '\n';
  }
  return text;
}

}  // namespace anesi
