// A prior of all variables together: a mixture of Dirichlets, fitted to the last beliefs that perception emitted.
//
// A component is one Dirichlet a variable, and a belief of all variables comes from one component. So variables depend
// on each other through it: a component for inputs that are easy to see, one for those where everything is doubtful,
// some for which values are confused.
//
// Each fit goes on from where it was, by a few rounds of EM over the beliefs in the window. The responsibilities are
// the components' shares in each belief. Each component is then fitted to the beliefs, weighted by them, as a single
// Dirichlet would be: Newton's steps on the objective of dirichlet_objective.h, with its share of the L2 (prior.l2,
// prior.l2_per_belief). No round lowers the likelihood less what L2 takes. At the first fit components begin at
// observed beliefs far from each other. A component to which less than one belief belongs begins anew at the belief
// that the mixture explains worst.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/core/space.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/belief_window.h"
#include "anesi/priors/dirichlet.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct MixtureOptions {
  std::int64_t components = 8, rounds = 2;

  void describe(OptionTable& table) {
    table.add("components", components, {1, 10000}, "Dirichlets of all variables that are mixed");
    table.add("rounds", rounds, {1, 100000}, "of EM at each fit");
  }
};

class DirichletMixture final : public BeliefPrior {
 public:
  // Of `fit` it takes the window, the most of Newton's steps (iterations), initial, l2 and l2_per_belief. Throws
  // UsageError where an option is out of range.
  DirichletMixture(Space worlds, MixtureOptions options, DirichletFit fit = {});

  void observe(const torch::Tensor& beliefs) override { window_.push(beliefs); }
  // Does nothing before the first belief.
  void fit() override;
  torch::Tensor sample(std::int64_t count, at::Generator generator) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  // Of each component, double [components] and [components, variables, domain], 0 past a variable's domain.
  torch::Tensor weights() const { return weights_.clone(); }
  torch::Tensor concentrations() const;
  // log of the density at beliefs, double [batch], with respect to the simplices' own coordinates.
  torch::Tensor log_density(const torch::Tensor& beliefs) const;

 private:
  // Logarithms of beliefs, double [batch, values of the space], variable after variable without padding.
  torch::Tensor logs_of(const torch::Tensor& beliefs) const;
  // Weight and density of each component at beliefs with these logarithms, [batch, components].
  torch::Tensor log_joint(const torch::Tensor& logs) const;
  // The components that each of the observed beliefs would be nearest to, one-hot [batch, components].
  torch::Tensor first_responsibilities(const torch::Tensor& logs) const;
  void maximize(const torch::Tensor& logs, const torch::Tensor& responsibilities);
  void begin_anew(std::int64_t component, const torch::Tensor& logs);

  Space space_;
  MixtureOptions options_;
  DirichletFit fit_;
  BeliefWindow window_;
  torch::Tensor inside_;         // int64 [values]: places of values in a belief's padded row
  torch::Tensor variable_;       // double [values, variables]: 1 where a value is the variable's
  torch::Tensor weights_;        // double [components]
  torch::Tensor concentration_;  // double [components, values]
  bool begun_ = false;           // whether there was a fit
};

}  // namespace anesi
