// The losses by name. An entry says what q is to a loss, and how the loss is made:
//
//   ANESI_LOSS("amortized", LossEntry{.summary = "through a q that learns from samples of c", .learns_q = true, .make =
//   …});
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "anesi/losses/amortized.h"
#include "anesi/losses/estimated.h"
#include "anesi/losses/loss.h"
#include "anesi/losses/rloo.h"
#include "anesi/losses/semantic.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/registry.h"

namespace anesi {

struct LossOptions {
  AmortizedOptions q;
  ExactOptions exact;
  RlooOptions rloo;
  EstimatedOptions estimate;
  SemanticOptions semantic;
};

// What a loss is made from.
struct LossParts {
  std::shared_ptr<const Problem> problem;  // that of the examples perception learns from
  InferenceModel model;
  std::function<std::unique_ptr<BeliefPrior>(const Space& worlds)> make_prior;
  LossOptions options;
  at::Generator generator;
};

struct LossEntry {
  std::string summary;
  bool learns_q = false;  // whether q learns from samples of c
  bool through_q = true;  // whether perception learns through q; where not, what q says means nothing
  bool exact = false;     // whether q is exact inference, which has no weights
  std::function<std::unique_ptr<Loss>(const LossParts&)> make = {};
};

Registry<LossEntry>& losses();

#define ANESI_LOSS(name, ...) \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_loss_) = ::anesi::losses().add(name, __VA_ARGS__)

}  // namespace anesi
