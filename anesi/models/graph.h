// Message passing between the variables and the clauses of a constraint: one network for formulas of any size.
//
// It counts: log q(y=1|P) is an estimate of the logarithm of the weighted number of worlds that satisfy the constraint.
// Belief propagation gives one (Bethe's free energy), exact where the formula is a tree. The network's messages are
// those of belief propagation plus what it learned to add, from a few features that travel along with each message; a
// fresh network adds nothing. Its weights are those of one message, so a network that learned on small formulas can be
// asked about others.
//
// Clauses may be soft (factor_graph.h). Their weights are an input like the beliefs, in which the estimate is
// differentiable too; y=1 then means that a world passes. One that violates a soft clause of weight w > 0 passes it
// with probability exp(-w), one that satisfies a clause of weight w < 0 with exp(w), so that log q(y=1|P) is log Z(P)
// less the sum of the weights above zero.
//
// The same estimate explains, by Bayes' rule: q(w_i = v | w_1..w_{i-1}, y, P) is in proportion to P_i(v) times
// q(y|P') where P' is certain of all that is chosen and of v. The explanation has no weights of its own.
#pragma once

#include "anesi/models/message_paths.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct GraphOptions {
  std::int64_t width = 8;
  std::int64_t rounds = 10;
  double damping = 0.3;
  std::int64_t cases = 8;
  double defensive = 0.05;

  void describe(OptionTable& table) {
    table.add("width", width, {0, 1024}, "features that travel with a message; 0: belief propagation alone");
    table.add("rounds", rounds, {1, 1000}, "how often messages are passed");
    table.add("damping", damping, {0, 0.99}, "how much of its old value a message keeps in a round");
    table.add("cases", cases, {1, 65536},
              "at most so many cases a prediction is the sum of: those of the variables in most clauses");
    table.add("defensive", defensive, {0, 1},
              "share of the belief itself in each choice of an explanation, so that no importance weight is large");
  }
};

// The weights, shared by all formulas.
class GraphNetwork final : public torch::nn::Module {
 public:
  // A network that is not for soft clauses has no weights of its own for them, and counts none.
  enum class Clauses { kHard, kSoftToo };
  explicit GraphNetwork(const GraphOptions& options = {}, Clauses clauses = Clauses::kHard);
  const GraphOptions& options() const { return options_; }

  // log of the estimated weighted count, [rows]; may come out above that of all worlds. Without gradients, many rows
  // are counted a few hundred at a time. Soft clauses have the weights of `soft`, [weights]. Throws UsageError where
  // there are others.
  torch::Tensor log_count(const MessagePaths& paths, const torch::Tensor& log_weights, const torch::Tensor& soft = {});

 private:
  struct State;
  torch::Tensor count_rows(const MessagePaths& paths, const torch::Tensor& log_weights, const torch::Tensor& soft);
  torch::Tensor least_of(const MessagePaths& paths) const;  // what each clause leaves at least
  void pass_messages(const MessagePaths& paths, State& state);
  torch::Tensor free_energy(const MessagePaths& paths, const State& state);

  GraphOptions options_;
  bool counts_soft_;
  // Null where the width is 0.
  torch::nn::Linear first_ = nullptr, second_ = nullptr, message_ = nullptr;
  torch::nn::Linear clause_ = nullptr, of_clause_ = nullptr, variable_ = nullptr, of_variable_ = nullptr;
};

// q(y|P) or, where `explains`, q(w|y,P) of one constraint: its one output is 1 where a world satisfies it.
class Graph final : public SequenceModel {
 public:
  // Soft clauses have the weights of `soft`, [weights].
  Graph(std::shared_ptr<const MessagePaths> paths, std::shared_ptr<GraphNetwork> network, bool explains,
        torch::Tensor soft = {});

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

  const MessagePaths& paths() const { return *paths_; }

  // log q(y=1|P) of each row, [rows], below 0. Summed over the cases of a few variables, or of one case, as it stands.
  torch::Tensor log_satisfied(const torch::Tensor& beliefs);
  torch::Tensor log_satisfied_at_once(const torch::Tensor& beliefs);
  // The same as log_satisfied without the bound, which bends what is near it.
  torch::Tensor log_count(const torch::Tensor& beliefs);

 private:
  torch::Tensor log_count_at_once(const torch::Tensor& beliefs);
  template <typename OfCase>
  torch::Tensor sum_of_cases(const torch::Tensor& beliefs, OfCase of_case);

  std::shared_ptr<const MessagePaths> paths_;
  std::shared_ptr<GraphNetwork> network_;
  bool explains_;
  torch::Tensor soft_;
};

// Both halves of q, on one network.
struct InferenceModel;
InferenceModel graph_models(const FactorGraph& graph, const std::shared_ptr<GraphNetwork>& network, bool explain);

}  // namespace anesi
