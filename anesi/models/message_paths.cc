#include "anesi/models/message_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/logic/graph_loops.h"

namespace anesi {
namespace {

// Messages keep clear of certainty, from which there would be no way back while they are still wrong: a clause that has
// to do with loops leaves each value this much. One with a single variable, or in a tree, knows what it says.
constexpr double kLeastLeft = 1e-3, kLeastLeftOfTree = 1e-9;
constexpr double kLogOfNoValue = -60;            // past a variable's domain
constexpr std::int64_t kDenseEntries = 1 << 22;  // of a matrix that sums over edges

}  // namespace

MessagePaths::MessagePaths(const FactorGraph& graph)
    : worlds_(graph.worlds),
      variables_(graph.worlds.variables() + graph.own_variables),
      domain_(std::max<std::int64_t>(graph.worlds.largest_domain(), graph.own_variables > 0 ? 2 : 1)),
      clauses_(static_cast<std::int64_t>(graph.clauses.size())) {
  for (const auto& clause : graph.clauses) longest_ = std::max(longest_, static_cast<std::int64_t>(clause.size()));
  edges_ = clauses_ * longest_;
  dense_ = variables_ * domain_ * edges_ <= kDenseEntries;
  const auto worlds = worlds_.variables();
  variable_ = torch::zeros({edges_}, torch::kInt64);
  falsifying_ = torch::zeros({edges_, domain_});
  const auto loops = clauses_in_loops(graph);
  is_forest_ = std::ranges::find(loops, true) == loops.end();
  least_ = torch::full({clauses_, 1, 1}, kLeastLeft);
  auto filled = torch::ones({edges_, 1}, torch::kBool);
  for (std::int64_t place = 0; place < clauses_; ++place) {
    const auto& clause = graph.clauses[as_size(place)];
    if (clause.empty()) throw UsageError("graph: a clause without variables, which no world satisfies");
    if (clause.size() == 1 || !loops[as_size(place)]) least_[place] = kLeastLeftOfTree;
    auto edge = place * longest_;
    for (const auto& [variable, values] : clause) {
      const auto domain = variable < worlds ? worlds_.domain(variable) : 2;
      if (values.empty() || static_cast<std::int64_t>(values.size()) >= domain) {
        throw UsageError(fmt::format("graph: clause {} says nothing of variable {}", place, variable));
      }
      variable_[edge] = variable;
      filled[edge] = false;
      for (const auto value : values) falsifying_[edge][value] = 1;
      ++edge;
    }
  }
  if (filled.any().item<bool>()) filled_ = filled;
  weights_ = graph.weights;
  std::vector<std::int64_t> soft, weight_of;
  for (std::int64_t place = 0; place < static_cast<std::int64_t>(graph.weight_of.size()); ++place) {
    if (graph.weight_of[as_size(place)] == FactorGraph::kMustHold) continue;
    soft.push_back(place);
    weight_of.push_back(graph.weight_of[as_size(place)]);
  }
  if (!soft.empty()) {
    soft_ = torch::tensor(soft, torch::kInt64);
    weight_of_ = torch::tensor(weight_of, torch::kInt64);
  }
  if (dense_) {
    const auto leads = filled.logical_not().to(torch::kFloat32);  // [edges, 1]
    to_variables_ = torch::zeros({variables_, edges_});
    to_variables_.scatter_(0, variable_.unsqueeze(0), leads.view({1, -1}));
    to_values_ = (to_variables_.unsqueeze(1) * falsifying_.t().unsqueeze(0)).flatten(0, 1).contiguous();
  }
  own_weights_ = torch::full({graph.own_variables, domain_, 1}, kLogOfNoValue);
  own_weights_.slice(1, 0, 2).zero_();
  if (!worlds_.all_domains_equal() || worlds_.largest_domain() < domain_) {
    past_domain_ = torch::zeros({worlds, domain_, 1}, torch::kBool);
    for (std::int64_t variable = 0; variable < worlds; ++variable) {
      past_domain_[variable].slice(0, worlds_.domain(variable)).fill_(true);
    }
  }
  order_ = splitting_order(graph).variables;
}

torch::Tensor MessagePaths::log_weights(const torch::Tensor& beliefs) const {
  auto logs = beliefs.clamp_min(kLeastBelief).log().permute({1, 2, 0});  // [worlds, domain, rows]
  if (logs.size(1) < domain_) logs = torch::constant_pad_nd(logs, {0, 0, 0, domain_ - logs.size(1)});
  if (past_domain_.defined()) logs = logs.masked_fill(past_domain_, kLogOfNoValue);
  if (own_weights_.size(0) > 0) {
    logs = torch::cat({logs, own_weights_.to(logs.options()).expand({-1, -1, logs.size(2)})});
  }
  return logs.contiguous();
}

torch::Tensor MessagePaths::add_to_values(const torch::Tensor& messages) const {
  if (dense_) return to_values_.to(messages.options()).mm(messages);
  const auto each = falsifying_.to(messages.options()).unsqueeze(2) * messages.unsqueeze(1);  // [edges, domain, rows]
  return torch::zeros({variables_, domain_, messages.size(1)}, messages.options())
      .index_add(0, variable_, each)
      .flatten(0, 1);
}

torch::Tensor MessagePaths::add_to_variables(const torch::Tensor& features) const {
  if (dense_) return torch::matmul(to_variables_.to(features.options()), features);
  auto shape = features.sizes().vec();
  shape[shape.size() - 2] = variables_;
  const auto each = filled_.defined() ? features.masked_fill(filled_, 0) : features;
  return torch::zeros(shape, features.options()).index_add(-2, variable_, each);
}

torch::Tensor MessagePaths::at_edges(const torch::Tensor& variables) const {
  // A product with zeros and ones: its backward pass is one too, where that of index_select would go edge by edge.
  if (dense_) return torch::matmul(to_variables_.to(variables.options()).t(), variables);
  return variables.index_select(-2, variable_);
}

}  // namespace anesi
