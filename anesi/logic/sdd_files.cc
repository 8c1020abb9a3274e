// Circuits as libsdd writes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>
#include <vector>

#include "anesi/logic/circuit_files.h"
#include "anesi/logic/circuit_reading.h"

namespace anesi {
namespace {

using Part = CircuitBuilder::Part;

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
      expect_one_more(words_, nodes_.size(), count);
      if (first != "L" && first != "I") {
        words_.fail(fmt::format("a node should begin with L or I, not {}", FileWords::shown(first)));
      }
      read_node(first == "L");
    }
    expect_all(words_, nodes_.size(), count);
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
      expect_one_more(words_, nodes_.size(), count);
      if (first != "F" && first != "T" && first != "L" && first != "D") {
        words_.fail(fmt::format("a node should begin with F, T, L or D, not {}", FileWords::shown(first)));
      }
      const auto id = words_.next_number("a node", 0, kLargestId);
      if (nodes_.contains(id)) words_.fail(fmt::format("node {} is declared twice", id));
      node = read_node(first[0]);
      words_.expect_end();
      nodes_.emplace(id, node);
    }
    expect_all(words_, nodes_.size(), count);
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

}  // namespace

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
  return SddFileReader(sdd, sdd_name, tree).read();
}

}  // namespace anesi
