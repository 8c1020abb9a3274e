// A trained pair of perception and q, ready to be asked.
//
//   const Predictor predictor = load_predictor("runs/four", problem, make_perception);
//   const auto beliefs = predictor.beliefs(inputs);             // what is seen
//   predictor.predict(beliefs).outputs                          // the most likely outputs
//   predictor.explain(beliefs.slice(0, 0, 1)).worlds            // which worlds would give the first one's
//
// All methods are constant and may be called from several threads at once. Beliefs are [batch, worlds, domain] and are
// checked; what comes back has no gradients.
#pragma once

#include <torch/torch.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/models/rollout_record.h"
#include "anesi/options/option_table.h"
#include "anesi/perception/perception.h"
#include "anesi/predict/decision.h"
#include "anesi/predict/evaluation.h"
#include "anesi/predict/explanation.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/tensors/examples.h"

namespace anesi {

// What counts as the answer, and as accuracy: the most likely world's output; q's most likely output; where labels say
// whether an output holds, a threshold on its likelihood or on the gap to the best world that gives it; where labels
// are worlds under a constraint, the most probable world that satisfies it.
enum class Decide { kSymbolic, kNeural, kLikelihood, kGap, kConstrained };
constexpr std::array<std::string_view, 5> names_of(Decide) {
  return {"symbolic", "neural", "likelihood", "gap", "constrained"};
}

struct PredictorOptions {
  std::int64_t beam = 16;
  bool prune = false;
  double learned_threshold = 0;
  Decide decide = Decide::kSymbolic;
  SearchLimits limits = {};

  // How a decision by score is scored; empty where there is none.
  std::optional<ScoredBy> scored_by() const {
    if (decide == Decide::kLikelihood) return ScoredBy::kLikelihood;
    if (decide == Decide::kGap) return ScoredBy::kGap;
    return std::nullopt;
  }

  void describe(OptionTable& table) {
    table.add("beam", beam, {1, 1000000},
              "width of the beam in the final evaluation and in predict; while training it is 1, or 16 where decide is "
              "constrained");
    table.add("prune", prune, "choose outputs under the problem's pruner, also where q did not learn with it");
    table.add("decide", decide,
              "what `accuracy` counts: the most likely world's output, q's most likely output or, where labels say "
              "whether an output holds, a threshold on its likelihood or on the gap to the best world that gives it, "
              "fitted on validation data; or, where labels are worlds under a constraint, the most probable world that "
              "satisfies it (symbolic: the most likely one, which may not)");
    table.add("nats", limits.nats, {0, 1000000}, "largest gap that is looked for");
    table.add("nodes", limits.nodes, {1, 1000000000}, "steps after which that search gives up");
    table.add(
        "learned_threshold", learned_threshold, {0, 1},
        "where no symbolic pruner prunes: leave out what q gives less than this at the uniform belief; 0: nothing");
  }
};

// Whether answers keep to the problem's pruner: where q learned under it, and where options say so.
// False where the problem has none.
bool prunes_by(const Problem& problem, const PredictorOptions& options, bool q_learned_under_it);

struct Predictions {
  torch::Tensor worlds;    // int64 [batch, worlds]: what is read, the most likely world of each belief
  torch::Tensor symbolic;  // int64 [batch, outputs]: c of it
  torch::Tensor outputs;   // int64 [batch, found, outputs]: of q, most likely first; none found where q cannot choose
  torch::Tensor probability;  // [batch, found], theirs; 0 where no output is left
  torch::Tensor constrained;  // int64 [batch, worlds]: the most probable world that gives the output that is asked for
                              // (AskedOutput), where that is what is decided by (Decide::kConstrained); else undefined
  torch::Tensor asked;        // [batch]: q's probability of the output that is asked for (AskedOutput); else undefined
  torch::Tensor holds;        // double [batch]: that it holds, by score and threshold; undefined without a decision
};

// Variables that are known, and an output, kUnset where not: what a prediction is to be conditioned on.
struct Evidence {
  torch::Tensor worlds = {};   // int64 [batch, worlds]; undefined: no variable is known. kNone is refused
  torch::Tensor outputs = {};  // int64 [batch, outputs]; undefined: no output is known
};

struct Conditioned {
  torch::Tensor beliefs;    // double [batch, worlds, domain]: each variable's probabilities given the evidence
  torch::Tensor log_prob;   // [batch]: of the evidence
  Predictions predictions;  // with the known variables made certain; of the known output, where there is one
};

class Predictor {
 public:
  struct Parts {
    std::shared_ptr<const Problem> problem;
    std::shared_ptr<Perception> perception;
    InferenceModel model;
    PredictorOptions options = {};
    std::optional<Decision> decision = {};
    bool prunes = false;    // by the problem's pruner (prunes_by); throws UsageError where it has none
    bool q_learned = true;  // where it did not, what q says means nothing and is left out of evaluations
  };
  // Puts perception and q into evaluation mode; where they are, nothing is written, so that several threads may make
  // predictors of one q.
  explicit Predictor(Parts parts);

  const Problem& problem() const { return *parts_.problem; }
  const std::shared_ptr<const Problem>& shared_problem() const { return parts_.problem; }
  Perception& perception() const { return *parts_.perception; }
  const InferenceModel& model() const { return parts_.model; }
  const PredictorOptions& options() const { return parts_.options; }
  const std::optional<Decision>& decision() const { return parts_.decision; }
  // Null where nothing is pruned.
  const Pruning* pruning() const { return pruning_.get(); }
  bool prunes_symbolically() const { return prunes_symbolically_; }
  bool q_learned() const { return parts_.q_learned; }
  // Whether q can choose an output; where not, it only tells how likely one is.
  bool chooses() const {
    return parts_.model.prediction->has_rollouts() || (parts_.model.exact && parts_.model.exact->ranks_outputs());
  }

  // What perception believes of inputs [batch, …].
  torch::Tensor beliefs(const torch::Tensor& inputs) const;

  Predictions predict(const torch::Tensor& beliefs, std::int64_t top = 1) const;

  // How explain() explains, unless told otherwise: by the model where q explains; else by influence where outputs are
  // better or worse rather than right or wrong (Score), for then many worlds stand behind each, unless an automaton, a
  // propagation or an exact pruner helps to find them; else by search.
  ExplainedBy explains_by() const;
  // Of one belief, [1, worlds, domain]. Throws UsageError where the output is none of the problem's, or q cannot
  // explain so.
  Explanation explain(const torch::Tensor& belief, const ExplainRequest& request = {}) const;
  // The most likely pairs of an output and a world. Throws UsageError where q does not explain.
  std::vector<JointExplanation> explain_jointly(const torch::Tensor& belief, std::int64_t top) const;
  // False where the problem's pruner knows that no world gives the output.
  bool possible(Values output) const;
  // The most probable worlds that give these outputs, with log p(w|P): exactly where q is exact inference; else among
  // those that q proposes in a beam of that width under the pruner, of which c confirms each; for outputs of which q
  // proposes none, by search (search/most_probable_worlds.h).
  MostProbable find_most_probable_worlds(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                         std::int64_t beam = 0) const;
  // The same, int64 [batch, worlds]. Throws Error where no world gives an output.
  torch::Tensor most_probable_worlds(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                     std::int64_t beam = 0) const;
  // The choices that lead to an output and on to a world, with everything that was on offer.
  std::vector<RecordedStep> record(const torch::Tensor& belief, Values output, Values world) const;

  // q(w_i = v | y, P), double [batch, worlds, domain]: by the gradient where q is multilinear, else by Bayes' rule with
  // each value made certain in turn, which asks q as often as there are values.
  torch::Tensor marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

  // `count` worlds of q(w|y,P) for each row, int64 [batch, count, worlds]: from the explanation model or, where q only
  // predicts, variable by variable from the marginals above.
  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs, std::int64_t count,
                       const at::Generator& generator) const;

  // What follows where some variables or the output are known.
  Conditioned condition(const torch::Tensor& beliefs, const Evidence& evidence, std::int64_t top = 1) const;

  Evaluation evaluate(const Examples& examples, const EvaluateSettings& settings = {}) const;

  // Writes the directory, or replaces the model in it as a whole; see saved_model.h. Throws Error where q was put
  // together by hand, or the directory holds something else.
  void save(const std::filesystem::path& directory) const;

 private:
  Explanation explain_by_model(Explanation explanation, const torch::Tensor& belief, const torch::Tensor& outputs,
                               const ExplainRequest& request) const;
  Explanation explain_by_search(Explanation explanation, const torch::Tensor& belief,
                                const torch::Tensor& outputs) const;
  Explanation explain_by_influence(Explanation explanation, const torch::Tensor& belief,
                                   const torch::Tensor& outputs) const;
  ExplainedWorld explained_world(std::vector<std::int64_t> world, double probability, const torch::Tensor& belief,
                                 const Explanation& explanation) const;

  Parts parts_;
  std::shared_ptr<const Pruning> pruning_;
  bool prunes_symbolically_ = false;
};

}  // namespace anesi
