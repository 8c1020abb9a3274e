// The model doctor: how far q is from exact inference, whether that can be certified, and whether perception could
// exploit it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// Between q(y|P) and p(y|P), means over the beliefs.
struct Distance {
  double total_variation = 0, divergence = 0;  // the latter is KL(p || q) in nats
};

// By sampling outputs from p: TV = E_{y~p}[max(0, 1 - q(y)/p(y))] and KL = E_{y~p}[log p(y) - log q(y)]. Any size.
Distance sampled_distance(SequenceModel& prediction, const Problem& problem, const ExactInference& exact,
                          const torch::Tensor& beliefs, std::int64_t samples, const at::Generator& generator);

// Over all outputs, [beliefs] each; for small spaces of outputs.
torch::Tensor total_variations(SequenceModel& prediction, const Space& outputs, const ExactInference& exact,
                               const torch::Tensor& beliefs);

// For a multilinear q: TV(q(.|P), p(.|P)) <= E_{w~P}[1 - q(c(w)|w)], because q(.|P) = E_{w~P} q(.|w), p(.|P) =
// E_{w~P} [c(w) = .], and total variation is convex. Needs no exact inference; holds at any size and any belief.
struct Certificate {
  torch::Tensor bounds;   // double [beliefs]: the estimated bound of each
  torch::Tensor margins;  // double [beliefs]: half the width of its 95 % confidence interval (normal approximation)
  double mean = 0, margin = 0;  // over all beliefs
};
Certificate certify(SequenceModel& prediction, const Problem& problem, const torch::Tensor& beliefs,
                    std::int64_t samples, const at::Generator& generator);

// The exploit test: q's loss where beliefs are certain of the truth, and at beliefs that perception might collapse to:
// ignorance, one value for all, values renamed, one value taken for another everywhere, two values swapped. Renamings
// that leave every output as it is are not counted: nothing can tell them apart.
struct ExploitCheck {
  double truth = 0;      // mean loss at the truth
  std::string cheapest;  // the degenerate belief with the lowest loss
  double cheapest_loss = 0;
  std::vector<std::string> cheaper;  // all that cost no more than the truth
  bool exploitable() const { return !(cheapest_loss > truth); }
};
// worlds int64 [n, variables] are the truth, and given is what c is told besides of each.
// `name` says what a value is called; by default its number.
ExploitCheck check_exploits(SequenceModel& prediction, const Problem& problem, const torch::Tensor& worlds,
                            const std::function<std::string(std::int64_t)>& name = {});

// Share of rows whose most probable explanation is the exact one, or as probable: the model's own where it can tell
// without search, else the best of a beam.
double mpe_agreement(SequenceModel& explanation, const ExactInference& exact, const Context& context, std::int64_t beam,
                     const Pruning* pruning);

}  // namespace anesi
