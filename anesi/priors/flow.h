// A prior of all variables together: a normalizing flow on log-ratios, fitted to the last beliefs that perception
// emitted.
//
// One Dirichlet a variable knows nothing of what variables have in common. Where all things of an input are blurred
// alike, or what makes one doubtful makes the others doubtful too, most of what it draws is never perceived, and a q of
// limited size spends itself there (the paper's limitations, "dependencies of variables"). This one draws beliefs that
// depend on each other as the observed ones do.
//
// Log-ratios (log_ratios.h) are first made to have mean 0 and covariance 1, by the mean and the covariance of the
// beliefs in the window, anew at each fit and in closed form. What remains is learned by a flow (coupling_flow.h) that
// begins as the identity: a few steps of AdamW at each fit, which minimise the mean of -log density over beliefs drawn
// from the window. So the first fit already has all correlations, as a logistic-normal distribution has, and the flow
// adds what is not normal. Noise is added to the log-ratios while fitting: it bounds the density where beliefs are all
// alike, as they are when training starts, and where they are held at the floor.
//
// Before the first belief, and for a share of the beliefs afterwards, it draws from Dirichlets with the concentration
// `prior.initial`, so that q knows something of where perception has not been yet.
//
// A fit costs what the covariance does, the window's size times the square of the number of log-ratios, and the steps
// of the flow.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/core/space.h"
#include "anesi/optimize/adam.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/belief_window.h"
#include "anesi/priors/coupling_flow.h"
#include "anesi/priors/log_ratios.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct FlowOptions {
  std::int64_t layers = 4, width = 32, steps = 2, batch = 128;
  double lr = 0.002, noise = 0.1, broad = 0.1;

  void describe(OptionTable& table) {
    table.add("layers", layers, {0, 64}, "couplings of the flow; 0: a logistic-normal distribution");
    table.add("width", width, {1, 16384}, "units in each of the two hidden layers of a coupling");
    table.add("steps", steps, {0, 100000}, "steps of AdamW at each fit");
    table.add("batch", batch, {1, 1000000}, "observed beliefs in each of them");
    table.add("lr", lr, {1e-8, 10}, "learning rate of those steps");
    table.add("noise", noise, {1e-3, 10}, "deviation, in nats, of what is added to observed log-ratios in a fit");
    table.add("broad", broad, {0, 1},
              "share of beliefs that are drawn from Dirichlets (prior.initial) all the same, so that q knows what "
              "perception has not emitted yet");
  }
};

class FlowPrior final : public BeliefPrior {
 public:
  // The window's size, and the concentration of the Dirichlets. Throws UsageError where an option is out of range.
  FlowPrior(const Space& worlds, FlowOptions options, std::int64_t window = BeliefWindow::kPaperCapacity,
            double initial = 0.1);

  void observe(const torch::Tensor& beliefs) override { window_.push(beliefs); }
  // Does nothing before the first belief. Throws Error where the fit diverges.
  void fit() override;
  torch::Tensor sample(std::int64_t count, at::Generator generator) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  // log of the flow's density of log-ratios at beliefs, double [batch]; it integrates to 1 over log-ratios. Throws
  // Error before the first fit.
  torch::Tensor log_density(const torch::Tensor& beliefs);

 private:
  // Whether there was a fit.
  bool fitted() const { return mean_.defined(); }
  // Mean and covariance of log-ratios, double [batch, size].
  void whiten(const torch::Tensor& ratios);
  // One step on these, which have mean 0 and covariance 1. Returns the loss.
  double step(const torch::Tensor& whitened);
  // float: the flow's own coordinates.
  torch::Tensor whitened(const torch::Tensor& ratios) const;

  FlowOptions options_;
  BeliefWindow window_;
  LogRatios ratios_;
  torch::Tensor concentration_;  // double [variables, domain], 0 past a variable's domain
  torch::Tensor mean_;           // double [size]; undefined before the first fit
  torch::Tensor factor_;         // double [size, size], lower triangular: the covariance's Cholesky factor
  CouplingFlow flow_;
  Adam optimizer_;
  std::int64_t fits_ = 0;  // decides what a fit draws
};

}  // namespace anesi
