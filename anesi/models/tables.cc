#include "anesi/models/tables.h"

#include <fmt/format.h>

#include <limits>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/rows.h"
#include "anesi/models/architecture.h"

namespace anesi {
namespace {

// Outputs do not depend on each other: the next one's logarithms stand in a tensor.
class MarginalRollout final : public Rollout {
 public:
  MarginalRollout(torch::Tensor marginals, const Space& outputs)
      : marginals_(std::move(marginals)), outputs_(outputs) {}

  torch::Tensor next_log_probs() override {
    return marginals_.select(1, variable_).slice(1, 0, outputs_.domain(variable_));
  }
  void advance(const torch::Tensor&) override { ++variable_; }
  void select(const torch::Tensor& rows) override { marginals_ = marginals_.index_select(0, rows); }

 private:
  torch::Tensor marginals_;  // [rows, outputs, values]
  const Space& outputs_;
  std::int64_t variable_ = 0;
};

torch::Tensor finite_log(const torch::Tensor& shares) {
  const auto least = shares.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::min()
                                                             : static_cast<double>(std::numeric_limits<float>::min());
  return shares.clamp_min(least).log();
}

}  // namespace

Tables::Tables(const Problem& problem) : SequenceModel(problem.outputs()) {
  const auto* const known = problem.facts().find<OutputTables>();
  const auto& worlds = problem.worlds();
  if (known == nullptr || static_cast<std::int64_t>(known->tables.size()) != problem.outputs().variables()) {
    throw UsageError("architecture tables: the problem gives no table for each output");
  }
  std::vector<bool> used(worlds.domains().size(), false);
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> outputs_of;  // by the domains of their variables
  for (std::size_t output = 0; output < known->tables.size(); ++output) {
    const auto& table = known->tables[output];
    std::vector<std::int64_t> domains;
    std::size_t combinations = 1;
    for (const auto variable : table.variables) {
      if (variable < 0 || variable >= worlds.variables()) {
        throw UsageError(fmt::format("architecture tables: a table names world variable {}; there are {}", variable,
                                     worlds.variables()));
      }
      if (used[static_cast<std::size_t>(variable)]) apart_ = false;
      used[static_cast<std::size_t>(variable)] = true;
      domains.push_back(worlds.domain(variable));
      combinations *= static_cast<std::size_t>(domains.back());
    }
    if (table.values.size() != combinations) {
      throw UsageError(fmt::format("architecture tables: the table of output {} has {} entries for {} combinations",
                                   output, table.values.size(), combinations));
    }
    outputs_of[domains].push_back(static_cast<std::int64_t>(output));
  }
  for (const auto& [domains, outputs] : outputs_of) {
    std::vector<std::int64_t> variables, values;
    for (std::size_t place = 0; place < domains.size(); ++place) {
      for (const auto output : outputs)
        variables.push_back(known->tables[static_cast<std::size_t>(output)].variables[place]);
    }
    for (const auto output : outputs) {
      const auto& own = known->tables[static_cast<std::size_t>(output)].values;
      values.insert(values.end(), own.begin(), own.end());
    }
    const auto count = static_cast<std::int64_t>(outputs.size());
    groups_.push_back({domains, tensor_of(outputs),
                       tensor_of(variables).view({static_cast<std::int64_t>(domains.size()), count}),
                       tensor_of(values).view({count, -1})});
  }
}

torch::Tensor Tables::combinations(const Group& group, const torch::Tensor& beliefs) const {
  const auto batch = beliefs.size(0), outputs = group.outputs.size(0);
  auto shares = torch::ones({batch, outputs, 1}, beliefs.options());
  for (std::size_t place = 0; place < group.domains.size(); ++place) {
    const auto variables = group.variables[static_cast<std::int64_t>(place)].to(beliefs.device());
    const auto own = beliefs.index_select(1, variables).slice(2, 0, group.domains[place]);
    shares = (shares.unsqueeze(3) * own.unsqueeze(2)).view({batch, outputs, -1});
  }
  return shares;
}

torch::Tensor Tables::log_prob(const Context& context, const torch::Tensor& values) {
  auto total = torch::zeros({context.size()}, context.beliefs.options());
  for (const auto& group : groups_) {
    const auto wanted = values.index_select(1, group.outputs.to(values.device())).unsqueeze(2);
    const auto agrees = (group.values.to(values.device()).unsqueeze(0) == wanted).logical_or(wanted == kUnset);
    const auto shares = torch::where(agrees, combinations(group, context.beliefs), 0.0).sum(2);
    total = total + finite_log(shares).sum(1);
  }
  return total;
}

std::unique_ptr<Rollout> Tables::begin(const Context& context) {
  auto marginals =
      torch::zeros({context.size(), space().variables(), space().largest_domain()}, context.beliefs.options());
  for (const auto& group : groups_) {
    const auto shares = combinations(group, context.beliefs);
    const auto index = group.values.to(shares.device()).unsqueeze(0).expand_as(shares);
    auto of_values = torch::zeros({context.size(), group.outputs.size(0), space().largest_domain()}, shares.options());
    of_values = of_values.scatter_add(2, index, shares);
    marginals = marginals.index_copy(1, group.outputs.to(shares.device()), of_values);
  }
  return std::make_unique<MarginalRollout>(finite_log(marginals), space());
}

struct TablesOptions {
  void describe(OptionTable& /*table*/) {}
};

ANESI_ARCHITECTURE("tables", "the marginals of outputs that each are of a few world variables; nothing is learned",
                   TablesOptions, [](const TablesOptions&, const Problem& problem, bool) -> InferenceModel {
                     return {std::make_shared<Tables>(problem), nullptr};
                   });

}  // namespace anesi
