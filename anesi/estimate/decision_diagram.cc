#include "anesi/estimate/decision_diagram.h"

#include <unordered_map>

#include "anesi/core/index.h"

namespace anesi {
namespace {

// Numbers for pairs of numbers, in the order in which they are first met.
class Pairs {
 public:
  std::int32_t number_of(std::int32_t first, std::int32_t second) {
    const auto key =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32) | static_cast<std::uint32_t>(second);
    return known_.try_emplace(key, static_cast<std::int32_t>(known_.size())).first->second;
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::int32_t> known_;
};

}  // namespace

DecisionDiagram::DecisionDiagram(const Space& space, std::vector<std::int32_t> outcome_of, torch::Tensor outcomes)
    : outcomes_(std::move(outcomes)), children_(as_size(space.variables())) {
  auto& numbers = outcome_of;  // of what follows each beginning of a point; a layer shorter at each turn
  for (auto variable = space.variables() - 1; variable >= 0; --variable) {
    const auto domain = as_size(space.domain(variable));
    // A node is the list of its children, which is numbered pair by pair.
    std::vector<Pairs> prefixes(domain);
    std::vector<std::vector<std::int64_t>> children(domain);
    const auto above = numbers.size() / domain;
    for (std::size_t place = 0; place < above; ++place) {
      const auto* const own = numbers.data() + place * domain;
      std::int32_t node = 0;
      for (std::size_t value = 0; value < domain; ++value) node = prefixes[value].number_of(node, own[value]);
      if (as_size(node) == children[0].size()) {
        for (std::size_t value = 0; value < domain; ++value) children[value].push_back(own[value]);
      }
      numbers[place] = node;  // what stood there was read already
    }
    numbers.resize(above);
    std::vector<torch::Tensor> rows;
    for (const auto& row : children) rows.push_back(torch::tensor(row, torch::kInt64));
    children_[as_size(variable)] = torch::stack(rows);
  }
}

torch::Tensor DecisionDiagram::expectation(const torch::Tensor& beliefs) const {
  auto values = outcomes_.unsqueeze(0).expand({beliefs.size(0), -1, -1});  // [batch, nodes, outcomes]
  for (auto variable = static_cast<std::int64_t>(children_.size()) - 1; variable >= 0; --variable) {
    const auto& children = children_[as_size(variable)];
    torch::Tensor sum;
    for (std::int64_t value = 0; value < children.size(0); ++value) {
      const auto part =
          beliefs.select(1, variable).select(1, value).view({-1, 1, 1}) * values.index_select(1, children[value]);
      sum = sum.defined() ? sum + part : part;
    }
    values = sum;
  }
  return values.select(1, 0);
}

std::int64_t DecisionDiagram::nodes() const {
  auto nodes = outcomes_.size(0);
  for (const auto& layer : children_) nodes += layer.size(1);
  return nodes;
}

}  // namespace anesi
