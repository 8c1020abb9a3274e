#include "anesi/models/graph.h"

#include <cmath>
#include <limits>

#include "anesi/core/index.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/next_choice.h"

namespace anesi {
namespace {

constexpr double kLeastOdds = 1e-6;        // of those that the network sees
constexpr std::int64_t kRowsAtOnce = 256;  // without gradients
constexpr double kSharpness = 50;          // of the bend at a count of all worlds
constexpr double kLogMostLikely = -1e-6;   // neither output is ever impossible
constexpr double kLargestWeight = 30;      // of a soft clause, either way; larger ones count as this
// What clauses leave at least (MessagePaths), at most: formulas with soft clauses have fewer contradictions.
constexpr double kLeastLeftBesideSoft = 1e-6;

// The estimate as a logarithm of a probability: itself below zero, bent just before it.
torch::Tensor as_log_prob(const torch::Tensor& log_count) {
  return -torch::nn::functional::softplus(-log_count, torch::nn::functional::SoftplusFuncOptions().beta(kSharpness));
}

torch::Tensor log_of_complement(const torch::Tensor& log_prob) { return (-log_prob.expm1()).log(); }

// [rows, worlds, domain], certain of a value of one variable; int64 [rows].
torch::Tensor made_certain(const torch::Tensor& beliefs, std::int64_t variable, const torch::Tensor& values) {
  auto certain = torch::zeros({beliefs.size(0), 1, beliefs.size(2)}, beliefs.options());
  certain.scatter_(2, values.view({-1, 1, 1}), 1);
  const auto index = torch::full({1}, variable, values.options());
  return beliefs.index_copy(1, index, certain);
}

// Of each entry along dimension 1, the product of the others.
torch::Tensor product_of_others(const torch::Tensor& factors) {
  const auto parts = factors.unbind(1);
  const auto count = parts.size();
  std::vector<torch::Tensor> before(count), others(count);
  for (std::size_t i = 1; i < count; ++i) before[i] = i == 1 ? parts[0] : before[i - 1] * parts[i - 1];
  torch::Tensor after;
  for (std::size_t i = count; i-- > 0;) {
    if (i == 0) {
      others[i] = after.defined() ? after : torch::ones_like(parts[0]);
    } else {
      others[i] = after.defined() ? before[i] * after : before[i];
    }
    after = after.defined() ? after * parts[i] : parts[i];
  }
  return torch::stack(others, 1);
}

// A layer on features that stand in rows, [features, any]: long rows, one operation after another over all of them.
torch::Tensor apply_to_columns(torch::nn::Linear& layer, const torch::Tensor& features) {
  return full_precision(torch::addmm(layer->bias.unsqueeze(1), layer->weight, features));
}

}  // namespace

// Of some rows while messages are passed.
struct GraphNetwork::State {
  torch::Tensor weights;    // [variables, domain, rows]
  torch::Tensor messages;   // [edges, rows]: log of what a clause leaves of a variable's falsifying values
  torch::Tensor features;   // [width, edges, rows]
  torch::Tensor totals;     // [variables, domain, rows]: weights with all messages
  torch::Tensor falsified;  // [edges, rows]: how likely a variable fails a clause, by what all other clauses say
  // Of soft clauses; undefined where there are none.
  torch::Tensor lost;      // [clauses, 1]: 1 - exp(-weight), all of what a clause leaves to who violates it where hard
  torch::Tensor strength;  // [clauses, 1]: tanh(weight / 2), 1 where hard

  // What clauses leave, [clauses, …], where they are violated so likely.
  torch::Tensor left(const torch::Tensor& violated) const {
    if (!lost.defined()) return 1 - violated;
    return 1 - violated * (violated.dim() == 3 ? lost.unsqueeze(2) : lost);
  }
  // The strength of each edge's clause, [edges, 1].
  torch::Tensor of_edges(const MessagePaths& paths) const { return strength.repeat_interleave(paths.longest_, 0); }

  void take_weights(const MessagePaths& paths, const torch::Tensor& soft) {
    const auto ones = torch::ones({paths.clauses_, 1}, weights.options());
    lost = strength = ones;
    if (!paths.soft_.defined()) return;
    const auto each = soft.to(weights.options()).index_select(0, paths.weight_of_).unsqueeze(1);
    const auto weight = each.clamp(-kLargestWeight, kLargestWeight);
    lost = ones.index_copy(0, paths.soft_, -(-weight).expm1());
    strength = ones.index_copy(0, paths.soft_, (weight / 2).tanh());
  }

  void look(const MessagePaths& paths) {
    const auto rows = weights.size(2);
    totals = (weights.flatten(0, 1) + paths.add_to_values(messages)).view({paths.variables_, paths.domain_, rows});
    const auto seen = paths.at_edges(totals.flatten(1)).view({paths.edges_, paths.domain_, rows});
    const auto failing = paths.falsifying_.to(weights.options()).unsqueeze(2);  // [edges, domain, 1]
    falsified = ((seen - failing * messages.unsqueeze(1)).softmax(1) * failing).sum(1);
    if (paths.filled_.defined()) falsified = falsified.masked_fill(paths.filled_, 1);
  }
};

GraphNetwork::GraphNetwork(const GraphOptions& options, Clauses clauses)
    : options_(options), counts_soft_(clauses == Clauses::kSoftToo) {
  const auto width = options.width, more = std::int64_t{counts_soft_ ? 1 : 0};
  if (width == 0) return;
  const auto layer = [&](const char* name, std::int64_t inputs, std::int64_t outputs) {
    return register_module(name, torch::nn::Linear(inputs, outputs));
  };
  first_ = layer("first", 3 * width + 5 + more, 2 * width);
  second_ = layer("second", 2 * width, width);
  message_ = layer("message", width, 1);
  clause_ = layer("clause", width + 2 + more, 2 * width);
  of_clause_ = layer("of_clause", 2 * width, 1);
  variable_ = layer("variable", width + 3, 2 * width);
  of_variable_ = layer("of_variable", 2 * width, 1);
  for (const auto& last : {message_, of_clause_, of_variable_}) {
    torch::nn::init::zeros_(last->weight);
    torch::nn::init::zeros_(last->bias);
  }
}

torch::Tensor GraphNetwork::least_of(const MessagePaths& paths) const {
  return counts_soft_ ? paths.least_.clamp_max(kLeastLeftBesideSoft) : paths.least_;
}

void GraphNetwork::pass_messages(const MessagePaths& paths, State& state) {
  const auto rows = state.weights.size(2), width = options_.width;
  state.look(paths);
  const auto of_others = product_of_others(state.falsified.view({paths.clauses_, paths.longest_, rows}));
  const auto least = least_of(paths).to(of_others.options());
  auto messages = state.left(of_others).maximum(least).log().view({paths.edges_, rows});
  if (width > 0) {
    const auto& features = state.features;
    const auto by_clause = features.view({width, paths.clauses_, paths.longest_, rows});
    const auto in_clause = (by_clause.sum(2, /*keepdim=*/true) - by_clause).view_as(features);
    const auto at_variable = paths.at_edges(paths.add_to_variables(features)) - features;
    std::vector<torch::Tensor> numbers{state.messages, messages, state.falsified, of_others.view_as(messages),
                                       (state.falsified.logit(kLeastOdds) / 4).tanh()};  // [edges, rows] each
    if (counts_soft_) numbers.push_back(state.of_edges(paths).expand_as(messages));
    const auto seen = torch::cat({features, in_clause, at_variable, torch::stack(numbers)}).flatten(1);
    const auto more = apply_to_columns(second_, torch::silu(apply_to_columns(first_, seen)));
    state.features = (features / 2 + more.view_as(features)).tanh();
    if (paths.filled_.defined()) state.features = state.features.masked_fill(paths.filled_, 0);
    auto added = apply_to_columns(message_, state.features.flatten(1)).view_as(messages);
    if (counts_soft_) added = added * state.of_edges(paths).abs();  // a clause of no weight says nothing
    messages = messages + added;
  }
  if (paths.filled_.defined()) messages = messages.masked_fill(paths.filled_, 0);
  state.messages = state.messages.lerp(messages, 1 - options_.damping);
}

torch::Tensor GraphNetwork::free_energy(const MessagePaths& paths, const State& state) {
  const auto rows = state.weights.size(2), width = options_.width;
  const auto violated = state.falsified.view({paths.clauses_, paths.longest_, rows}).prod(1);  // [clauses, rows]
  const auto least = least_of(paths).to(violated.options()).squeeze(1);
  const auto clauses = state.left(violated).maximum(least).log();
  const auto edges = (1 + state.falsified * state.messages.expm1()).clamp_min(kLeastBelief).log();
  auto total = state.totals.logsumexp(1).sum(0) + clauses.sum(0) - edges.sum(0);
  if (width == 0) return total;
  // What was learned counts less the surer it is that a clause holds, or which value a variable has.
  const auto of_clause = state.features.view({width, paths.clauses_, paths.longest_, rows}).sum(2);
  std::vector<torch::Tensor> numbers{violated, clauses};
  if (counts_soft_) numbers.push_back(state.strength.expand_as(violated));
  const auto about_clause = torch::cat({of_clause, torch::stack(numbers)}).flatten(1);
  const auto more_of_clause = apply_to_columns(of_clause_, torch::silu(apply_to_columns(clause_, about_clause)));
  auto doubtful = (4 * violated).clamp_max(1);
  if (counts_soft_) doubtful = doubtful * state.strength.abs();
  total = total + (more_of_clause.view_as(violated) * doubtful).sum(0);
  const auto believed = state.totals.softmax(1);  // [variables, domain, rows]
  const auto doubt = 2 * (1 - believed.square().sum(1));
  const auto about_variable = torch::cat({paths.add_to_variables(state.features),
                                          torch::stack({doubt, believed.amax(1), state.weights.softmax(1).amax(1)})})
                                  .flatten(1);
  const auto more_of_variable =
      apply_to_columns(of_variable_, torch::silu(apply_to_columns(variable_, about_variable)));
  return total + (more_of_variable.view_as(doubt) * doubt).sum(0);
}

torch::Tensor GraphNetwork::count_rows(const MessagePaths& paths, const torch::Tensor& log_weights,
                                       const torch::Tensor& soft) {
  if (paths.clauses_ == 0) return log_weights.logsumexp(1).sum(0);
  const auto rows = log_weights.size(2);
  State state{.weights = log_weights,
              .messages = torch::zeros({paths.edges_, rows}, log_weights.options()),
              .features = torch::zeros({options_.width, paths.edges_, rows}, log_weights.options()),
              .totals = {},
              .falsified = {},
              .lost = {},
              .strength = {}};
  if (counts_soft_) state.take_weights(paths, soft);
  for (std::int64_t round = 0; round < options_.rounds; ++round) pass_messages(paths, state);
  state.look(paths);
  return free_energy(paths, state);
}

torch::Tensor GraphNetwork::log_count(const MessagePaths& paths, const torch::Tensor& log_weights,
                                      const torch::Tensor& soft) {
  const auto given = soft.defined() ? soft.numel() : 0;
  if (given != paths.weights_) {
    throw UsageError(fmt::format("graph: {} weights for {} soft clauses", given, paths.weights_));
  }
  if (given > 0 && !counts_soft_) throw UsageError("graph: this network was not made for soft clauses");
  // What a world that satisfies all clauses passes with. Without a slope at 0, where log_scale has one
  // (markov_logic.h).
  const auto scale =
      given > 0 ? -(-soft.to(log_weights.options())).relu().sum() : torch::zeros({}, log_weights.options());
  if (torch::GradMode::is_enabled() || log_weights.size(2) <= kRowsAtOnce) {
    return count_rows(paths, log_weights, soft) + scale;
  }
  std::vector<torch::Tensor> counts;
  for (const auto& some : log_weights.split(kRowsAtOnce, 2)) {
    counts.push_back(count_rows(paths, some.contiguous(), soft));
  }
  return torch::cat(counts) + scale;
}

// The only choice of a prediction.
class GraphPredictionRollout final : public Rollout {
 public:
  GraphPredictionRollout(Graph& model, const Context& context) {
    const auto satisfied = model.log_satisfied(context.beliefs);
    log_probs_ = torch::stack({log_of_complement(satisfied), satisfied}, 1);
  }
  torch::Tensor next_log_probs() override { return log_probs_; }
  void advance(const torch::Tensor&) override {}
  void select(const torch::Tensor& rows) override { log_probs_ = log_probs_.index_select(0, rows); }

 private:
  torch::Tensor log_probs_;  // [rows, 2]
};

class GraphExplanationRollout final : public Rollout {
 public:
  GraphExplanationRollout(Graph& model, double defensive, const Context& context)
      : model_(model), defensive_(defensive), beliefs_(context.beliefs), output_(context.outputs.select(1, 0)) {}

  torch::Tensor next_log_probs() override {
    const auto domain = model_.space().domain(variable()), rows = beliefs_.size(0);
    const auto values = torch::arange(domain, output_.options()).repeat(rows);  // each row's one after another
    const auto cases = made_certain(beliefs_.repeat_interleave(domain, 0), variable(), values);
    const auto satisfied = model_.log_satisfied_at_once(cases).view({rows, domain});
    const auto of_output =
        torch::where((output_ == 1).unsqueeze(1), satisfied, log_of_complement(satisfied));  // log q(y|P')
    const auto belief = beliefs_.select(1, variable()).slice(1, 0, domain);
    const auto impossible = belief == 0;
    constexpr double kLeast = std::numeric_limits<float>::min();
    const auto posterior = (belief.clamp_min(kLeast).log() + of_output).masked_fill(impossible, -INFINITY).softmax(1);
    return ((1 - defensive_) * posterior + defensive_ * belief)
        .clamp_min(kLeast)
        .log()
        .masked_fill(impossible, -INFINITY)
        .log_softmax(1);
  }

  void advance(const torch::Tensor& values) override {
    beliefs_ = made_certain(beliefs_, variable(), values);
    ++step_;
  }

  void select(const torch::Tensor& rows) override {
    beliefs_ = beliefs_.index_select(0, rows);
    output_ = output_.index_select(0, rows);
  }

 private:
  std::int64_t variable() const { return model_.order()[step_]; }

  Graph& model_;
  double defensive_;
  torch::Tensor beliefs_;  // [rows, worlds, domain], certain of what is chosen
  torch::Tensor output_;   // int64 [rows]
  std::size_t step_ = 0;
};

Graph::Graph(std::shared_ptr<const MessagePaths> paths, std::shared_ptr<GraphNetwork> network, bool explains,
             torch::Tensor soft)
    : SequenceModel(explains ? paths->worlds() : Space{2}, explains ? paths->order() : std::vector<std::int64_t>{0}),
      paths_(std::move(paths)),
      network_(register_module("network", std::move(network))),
      explains_(explains),
      soft_(std::move(soft)) {}

torch::Tensor Graph::log_count_at_once(const torch::Tensor& beliefs) {
  return network_->log_count(*paths_, paths_->log_weights(beliefs), soft_);
}

torch::Tensor Graph::log_satisfied_at_once(const torch::Tensor& beliefs) {
  const auto count = log_count_at_once(beliefs);
  const bool is_exact = paths_->is_forest() && network_->options().width == 0;
  const auto log_prob = is_exact ? count : as_log_prob(count);
  // Gradients pass: where soft clauses weigh nothing all worlds count, and weights are still to be learned.
  return log_prob + (log_prob.clamp_max(kLogMostLikely) - log_prob).detach();
}

torch::Tensor Graph::log_satisfied(const torch::Tensor& beliefs) {
  return sum_of_cases(beliefs, [&](const torch::Tensor& cases) { return log_satisfied_at_once(cases); })
      .clamp_max(kLogMostLikely);
}

torch::Tensor Graph::log_count(const torch::Tensor& beliefs) {
  return sum_of_cases(beliefs, [&](const torch::Tensor& cases) { return log_count_at_once(cases); });
}

template <typename OfCase>
torch::Tensor Graph::sum_of_cases(const torch::Tensor& beliefs, OfCase of_case) {
  // Counting each case of a few variables apart breaks the loops that go through them.
  auto cases = beliefs.unsqueeze(1);  // [rows, cases, worlds, domain]
  auto log_weights = torch::zeros({beliefs.size(0), 1}, beliefs.options());
  const auto rows = beliefs.size(0);
  for (const auto variable : paths_->order()) {
    const auto domain = paths_->worlds().domain(variable), known = cases.size(1);
    if (known * domain > network_->options().cases) break;
    const auto values = torch::arange(domain, beliefs.options().dtype(torch::kInt64)).repeat(rows * known);
    cases = made_certain(cases.flatten(0, 1).repeat_interleave(domain, 0), variable, values)
                .view({rows, known * domain, beliefs.size(1), beliefs.size(2)});
    const auto belief = beliefs.select(1, variable).slice(1, 0, domain).clamp_min(kLeastBelief).log();
    log_weights = (log_weights.unsqueeze(2) + belief.unsqueeze(1)).flatten(1);
  }
  const auto of_cases = of_case(cases.flatten(0, 1)).view_as(log_weights);
  return (of_cases + log_weights).logsumexp(1);
}

torch::Tensor Graph::log_prob(const Context& context, const torch::Tensor& values) {
  const auto rollout = begin(context);
  auto total = torch::zeros({context.size()}, context.beliefs.options());
  for (const auto variable : order()) {
    const auto value = values.select(1, variable);
    total = total + next_choice(*rollout).log_prob(value);
    rollout->advance(value);
  }
  return total;
}

std::unique_ptr<Rollout> Graph::begin(const Context& context) {
  if (!explains_) return std::make_unique<GraphPredictionRollout>(*this, context);
  return std::make_unique<GraphExplanationRollout>(*this, network_->options().defensive, context);
}

InferenceModel graph_models(const FactorGraph& graph, const std::shared_ptr<GraphNetwork>& network, bool explain) {
  const auto paths = std::make_shared<const MessagePaths>(graph);
  return {std::make_shared<Graph>(paths, network, /*explains=*/false),
          explain ? std::make_shared<Graph>(paths, network, /*explains=*/true) : nullptr};
}

}  // namespace anesi
