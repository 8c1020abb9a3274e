// A distribution over the points of a space, given a context: what q(y|P) and q(w|y,P) are.
//
// A model chooses the variables of its space one after another, in its own order(). It gives the log-probability of a
// complete point in one pass (training), and a Rollout that goes variable by variable (sampling and beam search, which
// are written once for all architectures in sample.h and beam.h). Pruning happens there too, never in an architecture.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/space.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// What a model is told: beliefs and, for an explanation, the outputs that are to be explained.
struct Context {
  Context(torch::Tensor believed, torch::Tensor explained = {})  // NOLINT(google-explicit-constructor)
      : beliefs(std::move(believed)), outputs(std::move(explained)) {}

  torch::Tensor beliefs;  // [batch, worlds, domain]
  torch::Tensor outputs;  // int64 [batch, outputs]; undefined for a prediction

  std::int64_t size() const { return beliefs.size(0); }
  bool explains() const { return outputs.defined(); }
};

// A batch of partly chosen points, one a row. Starts with one row for each row of the context.
class Rollout {
 public:
  virtual ~Rollout() = default;

  // Log-probabilities of the next variable's values given those chosen so far, [rows, domain of that variable].
  virtual torch::Tensor next_log_probs() = 0;
  // Chooses the next variable's value in every row, int64 [rows].
  virtual void advance(const torch::Tensor& values) = 0;
  // Keeps the given rows, in that order; a row may be named more than once. int64 [new rows].
  virtual void select(const torch::Tensor& rows) = 0;
  // Which rows ended before the next variable, bool [rows]: kNone is all that is left to them, which advance() is then
  // told. Undefined, as it is by default, where no point ends early.
  virtual torch::Tensor ended() const { return {}; }
};

// In evaluation mode it may be asked from several threads at once, so it keeps nothing between calls; a rollout is one
// thread's. Only what teaches a model changes it: its weights, its mode, and whether its weights ask for gradients
// (losses/amortized.h).
class SequenceModel : public torch::nn::Module {
 public:
  SequenceModel(Space space, std::vector<std::int64_t> order) : space_(std::move(space)), order_(std::move(order)) {}
  // From the first variable to the last.
  explicit SequenceModel(Space space) : space_(std::move(space)), order_(static_cast<std::size_t>(space_.variables())) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  const Space& space() const { return space_; }
  // The variables in the order in which they are chosen.
  const std::vector<std::int64_t>& order() const { return order_; }

  // log q(values|context), [batch]. Differentiable in the beliefs and the weights.
  virtual torch::Tensor log_prob(const Context& context, const torch::Tensor& values) = 0;

  // One row for each of the context. The rollout refers to this model, which must outlive it.
  virtual std::unique_ptr<Rollout> begin(const Context& context) = 0;

  // log_prob(), and in the same pass that of what c knows on the way to the outputs (trace.h), summed over what is not
  // kUnset there; [batch] each. Throws UsageError where a model knows nothing of that.
  struct Traced {
    torch::Tensor values, trace;
  };
  virtual Traced log_prob_with_trace(const Context& /*context*/, const torch::Tensor& /*values*/,
                                     const torch::Tensor& /*trace*/) {
    throw UsageError("this architecture of q learns from outputs alone, not from what c knows on the way");
  }

  // Whether begin() works: a model may know the probability of any point and yet have no way to choose one.
  virtual bool has_rollouts() const { return true; }

  // Whether gradients flow through rollouts to the weights.
  virtual bool rollouts_have_gradients() const { return true; }

  // Whether q(y|P) is linear in each P_i, as p(y|P) is. Such a model is right on every belief if it is right on worlds.
  virtual bool multilinear() const { return false; }

  // What the model is to draw from while it learns; whoever teaches it says so. By default nothing is drawn.
  virtual void draw_from(at::Generator /*generator*/) {}

  // The most likely point of each row, where the model can tell without search; empty by default.
  virtual std::optional<MostProbable> most_probable(const Context&) { return std::nullopt; }
  // The same of so many points, which beam_search() then need not look for.
  virtual std::optional<Ranked> most_probable(const Context&, std::int64_t /*top*/) { return std::nullopt; }

 protected:
  // For models that know every order. Rollouts that have begun keep theirs; at rest it stays the same.
  void set_order(std::vector<std::int64_t> order) { order_ = std::move(order); }

 private:
  Space space_;
  std::vector<std::int64_t> order_;
};

// What a network computed in bfloat16, as 32 bits; wider types stay as they are.
inline torch::Tensor full_precision(const torch::Tensor& values) {
  return values.scalar_type() == torch::kBFloat16 ? values.to(torch::kFloat32) : values;
}

// Of an ensemble one member may be learning while the whole was put to rest before.
inline bool any_part_learns(const torch::nn::Module& module) {
  const auto parts = module.children();
  return module.is_training() ||
         std::any_of(parts.begin(), parts.end(), [](const auto& part) { return any_part_learns(*part); });
}

// Puts a module into evaluation mode. Where it is, nothing is written: whoever asks sees to this first, and several
// threads may ask one model at once.
inline void put_to_rest(torch::nn::Module& module) {
  if (any_part_learns(module)) module.eval();
}

}  // namespace anesi
