#include "anesi/exact/circuit_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/exact/file_words.h"

namespace anesi {
namespace {

using Part = CircuitBuilder::Part;

constexpr int kMostVariablesOfFiles = 1'000'000, kMostNodesOfFiles = 10'000'000, kMostEdgesOfFiles = 100'000'000;
constexpr int kLargestId = std::numeric_limits<int>::max();
constexpr std::uint64_t kSeedOfCheck = 1;

// What the builder says of a node, with the node's line; and of the whole, with the file's name.
template <typename Build>
Part build_at(const FileWords& words, std::int64_t line, Build build) {
  try {
    return build();
  } catch (const Error& error) {
    words.fail_at(line, error.what());
  }
}

Circuit build_whole(const FileWords& words, const CircuitBuilder& builder, Part top) {
  try {
    return builder.build(top);
  } catch (const Error& error) {
    throw Error(words.name() + ": " + error.what());
  }
}

// Comments are lines whose first word is c.
bool next_line_but_comments(FileWords& words, std::string_view& first) {
  while (words.next_line()) {
    first = words.next_word();
    if (first != "c") return true;
  }
  return false;
}

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
      if (parts_.size() == static_cast<std::size_t>(nodes))
        words_.fail(fmt::format("more nodes than the header's {}", nodes));
      parts_.push_back(read_node(first, builder));
    }
    if (parts_.size() < static_cast<std::size_t>(nodes)) {
      words_.fail(fmt::format("the header says {} nodes, there are {}; the file is cut short", nodes, parts_.size()));
    }
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
      for (const auto edge : std::ranges::equal_range(by_part, order[next], {}, part)) {
        const auto whole = edges_[edge].whole;
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

// A tree whose leaves are the variables. Its leaves are numbered from left to right, so that a part of the tree is an
// interval.
class VtreeReader {
 public:
  struct Interval {
    int begin = 0, end = 0;
    bool holds(const Interval& other) const { return begin <= other.begin && other.end <= end; }
  };
  struct Node {
    int left = -1, right = -1, variable = 0;
    bool has_parent = false;
    Interval leaves;
  };

  VtreeReader(std::string_view text, const std::string& name) : words_(text, name) { read(); }

  int variables() const { return leaves_; }
  // Nothing where there is no such node.
  const Node* find(int id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? nullptr : &nodes_[static_cast<std::size_t>(found->second)];
  }
  const Node& at(int place) const { return nodes_[static_cast<std::size_t>(place)]; }

 private:
  void read() {
    std::string_view first;
    if (!next_line_but_comments(words_, first) || first != "vtree") words_.fail("there is no header 'vtree NODES'");
    const auto count = words_.next_number("the number of nodes", 1, 2 * kMostVariablesOfFiles - 1);
    words_.expect_end();
    while (next_line_but_comments(words_, first)) {
      if (nodes_.size() == static_cast<std::size_t>(count))
        words_.fail(fmt::format("more nodes than the header's {}", count));
      if (first != "L" && first != "I") {
        words_.fail(fmt::format("a node should begin with L or I, not {}", FileWords::shown(first)));
      }
      read_node(first == "L");
    }
    if (nodes_.size() < static_cast<std::size_t>(count)) {
      words_.fail(fmt::format("the header says {} nodes, there are {}; the file is cut short", count, nodes_.size()));
    }
    const auto roots = std::ranges::count_if(nodes_, [](const Node& node) { return !node.has_parent; });
    if (roots != 1 || nodes_.back().has_parent) {
      words_.fail(fmt::format("the last node should be the root of one tree; there are {}", roots));
    }
    if (*variables_.rbegin() != leaves_) {
      words_.fail(fmt::format("there is a variable {}, but there are {}", *variables_.rbegin(), leaves_));
    }
    number_leaves();
  }

  void read_node(bool is_leaf) {
    const auto id = words_.next_number("a node", 0, kLargestId);
    Node node;
    if (is_leaf) {
      node.variable = words_.next_number("a variable", 1, kMostVariablesOfFiles);
      if (!variables_.insert(node.variable).second) words_.fail(fmt::format("variable {} comes twice", node.variable));
      ++leaves_;
    } else {
      node.left = read_part();
      node.right = read_part();
    }
    words_.expect_end();
    if (!places_.try_emplace(id, static_cast<int>(nodes_.size())).second) {
      words_.fail(fmt::format("node {} is declared twice", id));
    }
    nodes_.push_back(node);
  }

  int read_part() {
    const auto id = words_.next_number("a node", 0, kLargestId);
    const auto found = places_.find(id);
    if (found == places_.end()) words_.fail(fmt::format("node {} is not declared before", id));
    auto& part = nodes_[static_cast<std::size_t>(found->second)];
    if (part.has_parent) words_.fail(fmt::format("node {} is a part of two nodes", id));
    part.has_parent = true;
    return found->second;
  }

  void number_leaves() {
    int next = 0;
    std::vector<int> open{static_cast<int>(nodes_.size()) - 1};
    while (!open.empty()) {
      auto& node = nodes_[static_cast<std::size_t>(open.back())];
      open.pop_back();
      if (node.variable > 0) {
        node.leaves = {next, next + 1};
        ++next;
      } else {
        open.push_back(node.right);
        open.push_back(node.left);
      }
    }
    for (auto& node : nodes_) {  // parts come before wholes
      if (node.variable == 0) node.leaves = {at(node.left).leaves.begin, at(node.right).leaves.end};
    }
  }

  FileWords words_;
  std::vector<Node> nodes_;
  std::unordered_map<int, int> places_;  // of nodes, by their names in the file
  std::set<int> variables_;
  int leaves_ = 0;
};

class SddFileReader {
 public:
  SddFileReader(std::string_view text, const std::string& name, const VtreeReader& vtree)
      : words_(text, name), vtree_(vtree), builder_(vtree.variables()) {}

  Circuit read() {
    std::string_view first;
    if (!next_line_but_comments(words_, first) || first != "sdd") words_.fail("there is no header 'sdd NODES'");
    const auto count = words_.next_number("the number of nodes", 1, kMostNodesOfFiles);
    words_.expect_end();
    Node node;
    while (next_line_but_comments(words_, first)) {
      if (nodes_.size() == static_cast<std::size_t>(count))
        words_.fail(fmt::format("more nodes than the header's {}", count));
      if (first != "F" && first != "T" && first != "L" && first != "D") {
        words_.fail(fmt::format("a node should begin with F, T, L or D, not {}", FileWords::shown(first)));
      }
      const auto id = words_.next_number("a node", 0, kLargestId);
      if (nodes_.contains(id)) words_.fail(fmt::format("node {} is declared twice", id));
      node = read_node(first[0]);
      words_.expect_end();
      nodes_.emplace(id, node);
    }
    if (nodes_.size() < static_cast<std::size_t>(count)) {
      words_.fail(fmt::format("the header says {} nodes, there are {}; the file is cut short", count, nodes_.size()));
    }
    return build_whole(words_, builder_, node.part);
  }

 private:
  struct Node {
    Part part = CircuitBuilder::kFalse;
    bool is_constant = true;
    VtreeReader::Interval leaves;
  };

  Node read_node(char kind) {
    if (kind == 'F') return {CircuitBuilder::kFalse, true, {}};
    if (kind == 'T') return {CircuitBuilder::kTrue, true, {}};
    const auto id = words_.next_number("a node of the vtree", 0, kLargestId);
    const auto* const tree = vtree_.find(id);
    if (tree == nullptr) words_.fail(fmt::format("the vtree has no node {}", id));
    if (kind == 'L') {
      const auto literal = words_.next_number("a literal", -vtree_.variables(), vtree_.variables());
      if (literal == 0 || std::abs(literal) != tree->variable) {
        words_.fail(fmt::format("literal {} is not of node {} of the vtree", literal, id));
      }
      return {build_at(words_, words_.line(), [&] { return builder_.literal(literal); }), false, tree->leaves};
    }
    if (tree->variable > 0) words_.fail(fmt::format("node {} of the vtree is a variable and decides nothing", id));
    const auto count = words_.next_number("the number of elements", 1, kMostEdgesOfFiles);
    std::vector<Part> elements;
    for (int element = 0; element < count; ++element) {
      const auto prime = read_part("prime", vtree_.at(tree->left)), sub = read_part("sub", vtree_.at(tree->right));
      elements.push_back(build_at(words_, words_.line(), [&] { return builder_.product({prime, sub}); }));
    }
    return {build_at(words_, words_.line(), [&] { return builder_.sum(std::move(elements)); }), false, tree->leaves};
  }

  Part read_part(std::string_view what, const VtreeReader::Node& side) {
    const auto id = words_.next_number(fmt::format("a {}", what), 0, kLargestId);
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) words_.fail(fmt::format("node {} is not declared before", id));
    if (!found->second.is_constant && !side.leaves.holds(found->second.leaves)) {
      words_.fail(fmt::format("{} {} is over other variables than its side of the vtree", what, id));
    }
    return found->second.part;
  }

  FileWords words_;
  const VtreeReader& vtree_;
  CircuitBuilder builder_;
  std::unordered_map<int, Node> nodes_;
};

// Assignments, 64 at once: a word for each variable and for each node.
class DeterminismCheck {
 public:
  DeterminismCheck(const Circuit& circuit, std::uint64_t seed) : circuit_(circuit), random_(seed) {
    const auto nodes = static_cast<std::size_t>(circuit.nodes());
    log_models_.resize(nodes, 0);
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto parts = circuit.parts(static_cast<std::int64_t>(node));
      if (circuit.kind(static_cast<std::int64_t>(node)) != Circuit::Kind::kSum) {
        for (const auto part : parts) log_models_[node] += log_models_[static_cast<std::size_t>(part)];
        continue;
      }
      sums_.push_back(static_cast<std::int32_t>(node));
      double largest = 0, sum = 0;  // every part has a model
      for (const auto part : parts) largest = std::max(largest, log_models_[static_cast<std::size_t>(part)]);
      for (const auto part : parts) sum += std::exp(log_models_[static_cast<std::size_t>(part)] - largest);
      log_models_[node] = largest + std::log(sum);
    }
  }

  void run(std::string_view name) {
    if (sums_.empty()) return;
    const auto root = static_cast<std::int32_t>(circuit_.nodes()) - 1;
    for (int round = 0; round < kRounds; ++round) {
      const bool anywhere = round + 1 == kRounds;
      values_.assign(static_cast<std::size_t>(circuit_.variables()) + 1, 0);
      int draws = 0;
      for (; draws < 64 && visited_ < kMostVisits; ++draws) {
        descend(root, draws, /*in_proportion=*/!anywhere);
        if (anywhere) descend(sums_[random_() % sums_.size()], draws, /*in_proportion=*/false);
      }
      evaluate(draws == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << draws) - 1, name);
    }
  }

 private:
  static constexpr int kRounds = 4;
  static constexpr std::size_t kMostVisits = std::size_t{1} << 27;

  // Chooses a part of each sum, in proportion to its models or each alike.
  void descend(std::int32_t from, int bit, bool in_proportion) {
    open_.assign(1, from);
    while (!open_.empty()) {
      const auto node = open_.back();
      open_.pop_back();
      const auto parts = circuit_.parts(node);
      ++visited_;
      if (circuit_.kind(node) == Circuit::Kind::kLiteral) {
        auto& values = values_[static_cast<std::size_t>(std::abs(circuit_.literal(node)))];
        const auto mask = std::uint64_t{1} << bit;
        values = circuit_.literal(node) > 0 ? values | mask : values & ~mask;
      } else if (circuit_.kind(node) == Circuit::Kind::kProduct) {
        open_.insert(open_.end(), parts.begin(), parts.end());
      } else if (in_proportion) {
        visited_ += parts.size();
        double left = std::uniform_real_distribution<double>(0, 1)(random_);
        auto chosen = parts.begin();
        for (; chosen + 1 != parts.end(); ++chosen) {
          left -=
              std::exp(log_models_[static_cast<std::size_t>(*chosen)] - log_models_[static_cast<std::size_t>(node)]);
          if (left < 0) break;
        }
        open_.push_back(*chosen);
      } else {
        open_.push_back(parts[random_() % parts.size()]);
      }
    }
  }

  void evaluate(std::uint64_t drawn, std::string_view name) {
    holds_.resize(static_cast<std::size_t>(circuit_.nodes()));
    for (std::size_t node = 0; node < holds_.size(); ++node) {
      const auto index = static_cast<std::int64_t>(node);
      if (circuit_.kind(index) == Circuit::Kind::kLiteral) {
        const auto values = values_[static_cast<std::size_t>(std::abs(circuit_.literal(index)))];
        holds_[node] = circuit_.literal(index) > 0 ? values : ~values;
        continue;
      }
      const bool is_sum = circuit_.kind(index) == Circuit::Kind::kSum;
      std::uint64_t together = is_sum ? 0 : ~std::uint64_t{0}, twice = 0;
      for (const auto part : circuit_.parts(index)) {
        const auto its = holds_[static_cast<std::size_t>(part)];
        twice |= together & its;
        together = is_sum ? together | its : together & its;
      }
      if (is_sum && (twice & drawn) != 0) {
        throw Error(fmt::format(
            "{}: two parts of a sum over {} are true at once, so their models would be counted twice; the circuit is "
            "not deterministic",
            name, variables_in_words(index)));
      }
      holds_[node] = together;
    }
  }

  std::string variables_in_words(std::int64_t top) const {
    constexpr std::size_t kNamed = 8;
    std::vector<char> needed(static_cast<std::size_t>(top) + 1, 0);
    needed.back() = 1;
    std::set<int> variables;
    for (auto node = top; node >= 0; --node) {
      if (needed[static_cast<std::size_t>(node)] == 0) continue;
      if (circuit_.kind(node) == Circuit::Kind::kLiteral) variables.insert(std::abs(circuit_.literal(node)));
      for (const auto part : circuit_.parts(node)) needed[static_cast<std::size_t>(part)] = 1;
    }
    const std::vector<int> named(
        variables.begin(),
        std::next(variables.begin(), static_cast<std::ptrdiff_t>(std::min(kNamed, variables.size()))));
    return fmt::format("variable{} {}{}", named.size() == 1 ? "" : "s", fmt::join(named, ", "),
                       variables.size() > kNamed ? ", …" : "");
  }

  const Circuit& circuit_;
  std::mt19937_64 random_;
  std::vector<double> log_models_;
  std::vector<std::int32_t> sums_, open_;
  std::vector<std::uint64_t> values_, holds_;
  std::size_t visited_ = 0;
};

Circuit checked(Circuit circuit, const std::string& name) {
  check_deterministic(circuit, kSeedOfCheck, name);
  return circuit;
}

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
  if (first == "nnf") return checked(C2dReader(text, name, variables).read(), name);
  constexpr std::array<std::string_view, 4> kD4{"o", "a", "t", "f"};
  if (std::ranges::find(kD4, first) == kD4.end()) {
    words.fail(fmt::format("a circuit should begin with 'nnf' (c2d) or one of o, a, t, f (D4), not {}",
                           FileWords::shown(first)));
  }
  return checked(D4Reader(text, name, variables).read(), name);
}

Circuit read_sdd(const std::filesystem::path& sdd, const std::filesystem::path& vtree) {
  const auto tree = read_text(vtree);
  return parse_sdd(read_text(sdd), sdd.string(), tree, vtree.string());
}

Circuit read_sdd(const std::filesystem::path& sdd) {
  auto vtree = sdd;
  return read_sdd(sdd, vtree.replace_extension(".vtree"));
}

Circuit parse_sdd(std::string_view sdd, const std::string& sdd_name, std::string_view vtree,
                  const std::string& vtree_name) {
  const VtreeReader tree(vtree, vtree_name);
  return checked(SddFileReader(sdd, sdd_name, tree).read(), sdd_name);
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

void check_deterministic(const Circuit& circuit, std::uint64_t seed, std::string_view name) {
  DeterminismCheck(circuit, seed).run(name);
}

}  // namespace anesi
