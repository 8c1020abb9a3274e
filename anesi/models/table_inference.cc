#include "anesi/models/table_inference.h"

#include <fmt/format.h>

#include <map>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// logsumexp over the last dimension, whose gradient is 0 where nothing is possible.
torch::Tensor log_sum(const torch::Tensor& logs) {
  const auto impossible = logs.detach().isneginf().all(-1);
  return logs.masked_fill(impossible.unsqueeze(-1), 0).logsumexp(-1).masked_fill(impossible, kLogOfZero);
}

}  // namespace

TableInference::TableInference(const Problem& problem)
    : ExactInference(problem.worlds()), largest_output_(problem.outputs().largest_domain()) {
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
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    if (!used[static_cast<std::size_t>(variable)]) unread_.push_back(variable);
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

torch::Tensor TableInference::combinations(const Group& group, const torch::Tensor& logs) const {
  const auto batch = logs.size(0), outputs = group.outputs.size(0);
  auto sums = torch::zeros({batch, outputs, 1}, logs.options());
  for (std::size_t place = 0; place < group.domains.size(); ++place) {
    const auto own =
        logs.index_select(1, group.variables[static_cast<std::int64_t>(place)]).slice(2, 0, group.domains[place]);
    sums = (sums.unsqueeze(3) + own.unsqueeze(2)).view({batch, outputs, -1});
  }
  return sums;
}

torch::Tensor TableInference::agreeing(const Group& group, const torch::Tensor& logs,
                                       const torch::Tensor& outputs) const {
  const auto asked = outputs.index_select(1, group.outputs).unsqueeze(2), value = group.values.unsqueeze(0);
  const auto other = (asked < kUnset).logical_and(asked != other_than(0) - value);
  const auto agrees = (value == asked).logical_or(asked == kUnset).logical_or(other);
  return combinations(group, logs).masked_fill(~agrees, kLogOfZero);
}

torch::Tensor TableInference::find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const {
  auto total = torch::zeros({logs.size(0)}, logs.options());
  for (const auto& group : groups_) total = total + log_sum(agreeing(group, logs, outputs)).sum(1);
  // Their beliefs sum to one, whose derivative is what is believed of them.
  for (const auto variable : unread_) total = total + log_sum(of_values(logs, variable));
  return total;
}

torch::Tensor TableInference::marginals_of_outputs(const torch::Tensor& logs) const {
  std::vector<torch::Tensor> parts, outputs;
  for (const auto& group : groups_) {
    const auto shares = combinations(group, logs);
    std::vector<torch::Tensor> of_values;
    for (std::int64_t value = 0; value < largest_output_; ++value) {
      of_values.push_back(log_sum(shares.masked_fill(group.values.unsqueeze(0) != value, kLogOfZero)));
    }
    parts.push_back(torch::stack(of_values, 2));
    outputs.push_back(group.outputs);
  }
  return torch::cat(parts, 1).index_select(1, torch::cat(outputs).argsort());
}

void TableInference::write(const Group& group, torch::Tensor chosen, torch::Tensor& worlds) {
  for (auto place = group.domains.size(); place-- > 0;) {
    worlds.index_copy_(1, group.variables[static_cast<std::int64_t>(place)], chosen.remainder(group.domains[place]));
    chosen = chosen.div(group.domains[place], "floor");
  }
}

MostProbable TableInference::find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const {
  const auto batch = logs.size(0);
  auto found = torch::zeros({batch, worlds().variables()}, torch::kInt64);
  for (const auto variable : unread_) found.select(1, variable).copy_(of_values(logs, variable).argmax(1));
  auto possible = torch::ones({batch}, torch::kBool);
  for (const auto& group : groups_) {
    const auto [best, place] = agreeing(group, logs, outputs).max(2);
    possible.logical_and_(best.isneginf().any(1).logical_not());
    write(group, place, found);
  }
  return {found, LogBeliefs(logs).known_log_prob(found).masked_fill(~possible, kLogOfZero)};
}

torch::Tensor TableInference::draw(const torch::Tensor& logs, const torch::Tensor& outputs,
                                   at::Generator generator) const {
  const auto batch = logs.size(0);
  auto drawn = torch::zeros({batch, worlds().variables()}, torch::kInt64);
  for (const auto variable : unread_) {
    const auto shares = of_values(logs, variable).exp();
    drawn.select(1, variable).copy_(shares.multinomial(1, true, generator).squeeze(1));
  }
  for (const auto& group : groups_) {
    const auto shares = agreeing(group, logs, outputs).flatten(0, 1);
    const auto largest = shares.amax(1, /*keepdim=*/true);
    if (largest.isneginf().any().item<bool>()) throw Error("no world of positive probability gives the output");
    write(group, (shares - largest).exp().multinomial(1, true, generator).view({batch, -1}), drawn);
  }
  return drawn;
}

}  // namespace anesi
