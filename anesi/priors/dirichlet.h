// The paper's prior: one Dirichlet a variable, fitted to the last beliefs that perception emitted (appendix F).
//
// Before each update of q the fit goes on from where it was: 50 steps of Adam on x, where alpha = softplus(x), that
// minimise the objective of dirichlet_objective.h. Adam's moments are kept from one fit to the next. "We initialize all
// parameters at 0.1" is read as alpha = 0.1, not x = 0.1 (alpha = 0.74): the reference implementation does so, and at
// the paper's L2 that is where beliefs that are all uniform, as they are when training starts, put the optimum.
//
// L2 keeps early beliefs, which hardly differ, from driving the concentrations up until q sees one belief only. Its
// weight is given for a full window and grows with the number of beliefs in it (l2_per_belief), so that the balance of
// the two terms is the same at the first step as later; the reference implementation leaves it constant, which makes it
// 156 times as strong at the first step. The two agree once the window is full.
//
// A belief below kSmallestBelief counts as that. (The reference adds 1e-7 to each.) A fit reads no belief again: the
// sums of ln P are kept, updated by the beliefs that enter and leave the window. The arithmetic is in
// kernels/dirichlet_fit.h.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "anesi/core/space.h"
#include "anesi/kernels/dirichlet_fit.h"
#include "anesi/priors/belief_window.h"
#include "anesi/priors/prior.h"

namespace anesi {

// By the paper's steps of Adam, or by Newton's to the optimum of the same objective.
enum class DirichletMethod { kAdam, kNewton };
constexpr std::array<std::string_view, 2> names_of(DirichletMethod) { return {"adam", "newton"}; }

struct DirichletFit {
  using Method = DirichletMethod;

  std::int64_t window = BeliefWindow::kPaperCapacity;  // beliefs that the fit sees
  std::int64_t iterations = 50;                        // Adam's steps a fit; for Newton the most it may take
  double learning_rate = 0.01;                         // Adam's
  double initial = 0.1;                                // concentrations before the first fit
  double l2 = 900000;
  bool l2_per_belief = true;  // false: as the reference implementation, see above
  Method method = Method::kAdam;
};

// Throws UsageError where an option is out of range.
void check_fit(const DirichletFit& options);

class FittedDirichlet : public BeliefPrior {
 public:
  static constexpr double kSmallestBelief = kSmallestFittedBelief;

  // Throws UsageError where an option is out of range.
  explicit FittedDirichlet(Space space, DirichletFit options = {});

  void observe(const torch::Tensor& beliefs) override;
  // Does nothing before the first belief.
  void fit() override;
  torch::Tensor sample(std::int64_t count, at::Generator generator) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  // [variables, domain], double, 0 past a variable's domain.
  torch::Tensor concentration() const;
  // What the next fit() would minimise. Throws Error before the first belief.
  DirichletObjective objective() const;

 private:
  // Adds sign times the logarithms of the beliefs to the sums.
  void count(const torch::Tensor& beliefs, std::int64_t sign);

  Space space_;
  DirichletFit options_;
  BeliefWindow window_;
  // One number for every value of the space, variable after variable, without padding.
  std::vector<std::int64_t> log_sums_;
  std::vector<double> parameter_;  // x
  std::vector<double> first_moment_;
  std::vector<double> second_moment_;
  std::int64_t steps_ = 0;  // of Adam, over all fits
};

}  // namespace anesi
