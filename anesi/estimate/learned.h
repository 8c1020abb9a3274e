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
  std::int64_t calls = 4;
  OutcomeModelKind model = OutcomeModelKind::kKernel;
  ParameterPriorOptions prior;
  KernelOptions kernel;
  NetworkOptions network;

  void describe(OptionTable& table);
};

class LearnedEstimator final : public Estimator {
 public:
  LearnedEstimator(const EstimatorParts& parts, const LearnedOptions& options);

  OutcomeModel& model() { return *model_; }

  // How far off the mean of q is at draws z ~ P, |E_q[r] - g(z)|: its mean over `samples` draws of each example and
  // outcome, and a margin of two standard errors. Where q is multilinear and g not random, that is also a bound on the
  // error of expectation(), in the mean over examples. Calls g.
  struct Residual {
    double mean = 0, margin = 0;
    bool is_bound = false;
  };
  Residual residual(const Parameters& parameters, std::int64_t samples);

 protected:
  torch::Tensor estimate(const Parameters& parameters) override;
  std::optional<double> learn_at(const Parameters& parameters) override;

 private:
  std::int64_t calls_;
  ParameterPrior prior_;
  std::unique_ptr<OutcomeModel> model_;
  bool has_learned_ = false;
};

}  // namespace anesi
