// The priors by name, with their options.
#pragma once

#include <memory>

#include "anesi/options/option_table.h"
#include "anesi/priors/dirichlet.h"
#include "anesi/priors/palette.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct PriorOptions {
  std::string kind = "fitted";
  double concentration = 0.2;
  std::string method = "adam";
  DirichletFit fit;
  PaletteOptions palette;

  void describe(OptionTable& table) {
    table.add("kind", kind, {"fitted", "fixed", "observed", "certain", "palette"},
              "where q's training beliefs come from: a Dirichlet fitted to what perception emits, a fixed Dirichlet, "
              "what perception emits itself (no prior), worlds alone, or a few beliefs laid out in blobs over a grid");
    table.add("concentration", concentration, {1e-4, 1e4}, "of the fixed Dirichlet");
    table.add("method", method, {"adam", "newton"}, "how the Dirichlet is fitted");
    table.add("window", fit.window, {1, 10000000}, "beliefs that the fit, or the observed prior, remembers");
    table.add("iterations", fit.iterations, {1, 100000}, "steps of a fit");
    table.add("lr", fit.learning_rate, {1e-8, 10}, "learning rate of a fit by Adam");
    table.add("initial", fit.initial, {1e-4, 1e4}, "concentrations before the first fit");
    table.add("l2", fit.l2, {0, 1e12}, "weight of the squared concentrations in the fit");
    table.add("l2_per_belief", fit.l2_per_belief, "scale l2 with the number of beliefs seen so far");
  }
};

std::unique_ptr<BeliefPrior> make_prior(const Space& worlds, const PriorOptions& options);

}  // namespace anesi
