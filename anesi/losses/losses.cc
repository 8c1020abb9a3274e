#include "anesi/losses/losses.h"

#include "anesi/core/known_variables.h"
#include "anesi/losses/exact.h"

namespace anesi {

Registry<LossEntry>& losses() {
  static Registry<LossEntry> all("loss");
  return all;
}

namespace {

std::unique_ptr<Loss> make_amortized(const LossParts& parts) {
  return std::make_unique<AmortizedLoss>(parts.problem, parts.model, parts.make_prior(perceived_space(*parts.problem)),
                                         parts.options.q, parts.generator);
}

std::unique_ptr<Loss> make_rloo(const LossParts& parts) {
  return std::make_unique<RlooLoss>(parts.problem, parts.options.rloo, parts.generator);
}

// Draws worlds and changes one variable at a time, by the estimator of that name.
LossEntry estimated(const std::string& estimator, const std::string& summary) {
  return {.summary = summary, .through_q = false, .make = [estimator](const LossParts& parts) {
            return std::make_unique<EstimatedLoss>(parts.problem, estimator, parts.options.estimate, parts.generator);
          }};
}

ANESI_LOSS("amortized",
           LossEntry{.summary = "through a q that learns from samples of c", .learns_q = true, .make = make_amortized});
ANESI_LOSS("exact", LossEntry{.summary = "through exact inference, where the problem allows it",
                              .exact = true,
                              .make = [](const LossParts& parts) { return std::make_unique<ExactLoss>(parts.model); }});
ANESI_LOSS("rloo", LossEntry{.summary = "by drawing worlds and applying c: REINFORCE with a leave-one-out baseline",
                             .through_q = false,
                             .make = make_rloo});
ANESI_LOSS("indecater",
           estimated("indecater",
                     "by drawing worlds, each variable summed over: IndeCateR, REINFORCE for categoricals"));
ANESI_LOSS("gumbel",
           estimated("gumbel", "by drawing worlds: straight-through Gumbel-softmax, c's derivatives by changes"));
ANESI_LOSS(
    "semantic",
    LossEntry{
        .summary = "a network's own loss of labelled worlds, with the semantic loss and its entropy form beside it",
        .exact = true,
        .make = [](const LossParts& parts) -> std::unique_ptr<Loss> {
          return std::make_unique<SemanticLoss>(make_exact(*parts.problem, parts.options.exact),
                                                parts.options.semantic);
        }});
ANESI_LOSS("amortized+rloo", LossEntry{.summary = "through q and by drawing worlds at once",
                                       .learns_q = true,
                                       .make = [](const LossParts& parts) {
                                         const auto& rloo = parts.options.rloo;
                                         return std::make_unique<TwoLosses>(make_amortized(parts), make_rloo(parts),
                                                                            rloo.weight, rloo.in_turn);
                                       }});

}  // namespace
}  // namespace anesi
