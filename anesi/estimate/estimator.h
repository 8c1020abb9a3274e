// Estimators of E[g(z)] and, through it, of its gradient by the parameters that z is drawn from.
//
// All have one shape, so that a comparison differs in one name:
//
//   const Sources sources{.categoricals = Space::uniform(20, 2)};
//   auto g = std::make_shared<BlackBox>([](const Draws& z) { return …; }, /*outcomes=*/1);
//   const auto estimator = make_estimator("anesi", {sources, g, seeded(1)}, {"calls=8"});
//   estimator->learn({.beliefs = beliefs});
//   estimator->expectation({.beliefs = beliefs}).sum().backward();   // the gradient of beliefs is the estimate
//
// An estimator registers itself:
//
//   ANESI_ESTIMATOR("rloo", "REINFORCE with a leave-one-out baseline", SampleOptions,
//                   [](const SampleOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> { … });
#pragma once

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/unique_name.h"
#include "anesi/estimate/black_box.h"
#include "anesi/estimate/draws.h"
#include "anesi/options/registry.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

struct EstimatorParts {
  Sources sources;
  std::shared_ptr<BlackBox> g;
  at::Generator generator;  // the estimator's own
};

// Belongs to one thread at a time.
class Estimator {
 public:
  explicit Estimator(EstimatorParts parts) : parts_(std::move(parts)) {}
  virtual ~Estimator() = default;

  // E[g(z)] of each example, double [batch, outcomes]. Its value is an estimate, and its gradient by the parameters is
  // the estimate of the gradient. Most estimators draw z and call g here. Where g fails, nothing has changed.
  torch::Tensor expectation(const Parameters& parameters);

  // Calls g and learns from it what it needs, at parameters like these. Returns the loss of what was learned; empty
  // where there is nothing to learn. Where g fails, nothing has changed.
  std::optional<double> learn(const Parameters& parameters);

  // Whether it learns: then expectation() calls g only where nothing was learned yet.
  virtual bool learns() const { return false; }

  // All that the future depends on besides g: what was learned, and the generator.
  NamedTensors state() const;
  // Takes that up. Throws Error, and changes nothing, if it is of an estimator that was made in another way.
  void load_state(const NamedTensors& state);

  const Sources& sources() const { return parts_.sources; }
  std::int64_t calls() const { return parts_.g->calls(); }

 protected:
  virtual torch::Tensor estimate(const Parameters& parameters) = 0;
  virtual std::optional<double> learn_at(const Parameters& /*parameters*/) { return std::nullopt; }
  // What was learned, by name. Loading may stop half-way where it throws.
  virtual NamedTensors learned() const { return {}; }
  virtual void load_learned(const NamedTensors& /*state*/) {}

  torch::Tensor outcomes_of(const Draws& draws) { return (*parts_.g)(draws); }
  std::int64_t outcomes_count() const { return parts_.g->outcomes(); }
  const at::Generator& generator() const { return parts_.generator; }
  // Throws UsageError where z has a part that this estimator cannot do.
  void require_no_normals(const char* name) const;
  void require_no_categoricals(const char* name) const;

 private:
  EstimatorParts parts_;
};

using EstimatorEntry = Choosable<std::unique_ptr<Estimator>(const EstimatorParts& parts)>;

Registry<EstimatorEntry>& estimators();

// Settings are "name=value" each. Throws UsageError where there is no such estimator or option.
std::unique_ptr<Estimator> make_estimator(const std::string& name, const EstimatorParts& parts,
                                          const std::vector<std::string>& settings = {});

#define ANESI_ESTIMATOR(name, summary, Options, ...)                                                          \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_estimator_) = ::anesi::estimators().add(           \
      name, ::anesi::choosable<std::unique_ptr<::anesi::Estimator>(const ::anesi::EstimatorParts&), Options>( \
                summary, __VA_ARGS__))

}  // namespace anesi
