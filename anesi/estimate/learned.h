// A-NeSI as a gradient estimator (appendix C of the paper): perception learns through an outcome model q(r|P).
//
// Each time it learns, it draws parameters from a prior, z from those, and lowers -log q(g(z)|P). Its gradients have no
// variance but that of q's own learning, and the bias of q's error.
#pragma once

#include "anesi/estimate/estimator.h"
#include "anesi/estimate/outcome_model.h"
#include "anesi/estimate/parameter_prior.h"

namespace anesi {

struct LearnedOptions {
  std::int64_t calls = 4, first = 0;
  OutcomeModelKind model = OutcomeModelKind::kKernel;
  ParameterPriorOptions prior;
  KernelOptions kernel;
  NetworkOptions network;

  void describe(OptionTable& table);
};

class LearnedEstimator final : public Estimator {
 public:
  LearnedEstimator(const EstimatorParts& parts, const LearnedOptions& options);

  bool learns() const override { return true; }
  OutcomeModel& model() { return *model_; }

  // A bound on the error of expectation() where q is multilinear and g not random, in the mean over examples and
  // outcomes: by Jensen's inequality the mean of |E_q[r|z] - g(z)| over z ~ P, of `samples` draws of each example, with
  // a margin of two standard errors. Calls g. Throws UsageError where q is a network.
  struct Bound {
    double mean = 0, margin = 0;
  };
  Bound bound(const Parameters& parameters, std::int64_t samples);

 protected:
  torch::Tensor estimate(const Parameters& parameters) override;
  std::optional<double> learn_at(const Parameters& parameters) override;
  NamedTensors learned() const override;
  void load_learned(const NamedTensors& state) override;

 private:
  std::int64_t calls_, first_;
  ParameterPrior prior_;
  std::unique_ptr<OutcomeModel> model_;
  bool has_learned_ = false;
};

}  // namespace anesi
