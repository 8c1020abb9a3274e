// A prior over the parameters that z is drawn from: where an outcome model learns.
//
// Most of its parameters lie around those that perception uses now, the others come from conjugate priors: of
// categoricals a prior over beliefs by name, of normals a normal-inverse-gamma that follows what perception emits.
#pragma once

#include <memory>

#include "anesi/estimate/draws.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/priors.h"

namespace anesi {

struct ParameterPriorOptions {
  ParameterPriorOptions() {
    beliefs.kind = "fixed";
    beliefs.concentration = 0.5;
  }
  double explore = 0.1, spread = 0.3;
  PriorOptions beliefs;

  void describe(OptionTable& table) {
    table.add("explore", explore, {0, 1}, "share of the draws that come from a prior, wherever perception is now");
    table.add("spread", spread, {0, 100}, "how far the others lie from perception: of log-beliefs and log-deviations");
    table.add_group("prior", beliefs);
  }
};

// Of each normal by itself: variance ~ inverse gamma(shape, scale), mean ~ N(centre, variance / strength), fitted by
// moments to the means and deviations that were observed.
class NormalInverseGamma {
 public:
  explicit NormalInverseGamma(std::int64_t normals);

  void observe(const torch::Tensor& mean, const torch::Tensor& deviation);  // [batch, normals]
  // Means and deviations, [count, normals].
  std::pair<torch::Tensor, torch::Tensor> sample(std::int64_t count, at::Generator generator) const;

  torch::Tensor centre() const;    // each [normals]
  torch::Tensor strength() const;  // at most 1: never surer of the mean than a draw is wide
  torch::Tensor shape() const;     // between 3 and 20
  torch::Tensor scale() const;

  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  // Running averages, of about the last hundred batches.
  torch::Tensor mean_, mean_square_, variance_, variance_square_;
  double weight_ = 0;
};

class ParameterPrior {
 public:
  ParameterPrior(Sources sources, const ParameterPriorOptions& options);

  // Takes note of the parameters that perception uses.
  void observe(const Parameters& now);
  // Draws `count` like those that perception uses now. Nothing is taken note of; before anything was, none explores.
  Parameters sample(const Parameters& now, std::int64_t count, at::Generator generator);

  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  Parameters around(const Parameters& now, std::int64_t count, at::Generator generator) const;

  Sources sources_;
  double explore_, spread_;
  std::unique_ptr<BeliefPrior> beliefs_;
  NormalInverseGamma normals_;
  bool observed_ = false;
};

}  // namespace anesi
