#include "anesi/priors/priors.h"

#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/priors/observed.h"
#include "anesi/priors/palette.h"

namespace anesi {

Registry<PriorEntry>& priors() {
  static Registry<PriorEntry> all("prior");
  return all;
}

void PriorOptions::describe(OptionTable& table) {
  table.add(
      "kind", kind, priors().names(),
      "where q's training beliefs come from: a Dirichlet a variable fitted to what perception emits, a mixture of "
      "Dirichlets or a flow over all variables together fitted to it, a fixed Dirichlet, what perception emits itself "
      "(no prior), worlds alone, or a few beliefs laid out in blobs over a grid");
  table.add("concentration", concentration, {1e-4, 1e4}, "of the fixed Dirichlet");
  table.add("method", fit.method, "how the Dirichlet is fitted");
  table.add("window", fit.window, {1, 10000000}, "beliefs that a fit, or the observed prior, remembers");
  table.add("iterations", fit.iterations, {1, 100000}, "steps of a fit");
  table.add("lr", fit.learning_rate, {1e-8, 10}, "learning rate of a fit by Adam");
  table.add("initial", fit.initial, {1e-4, 1e4}, "concentrations before the first fit");
  table.add("l2", fit.l2, {0, 1e12}, "weight of the squared concentrations in the fit");
  table.add("l2_per_belief", fit.l2_per_belief, "scale l2 with the number of beliefs seen so far");
}

namespace {

ANESI_PRIOR("fitted", "a Dirichlet a variable, fitted to what perception emits", NoOptions,
            [](const NoOptions&, const Space& worlds, const PriorOptions& common) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<FittedDirichlet>(worlds, common.fit);
            });
ANESI_PRIOR("fixed", "Dirichlets with one concentration for every value", NoOptions,
            [](const NoOptions&, const Space& worlds, const PriorOptions& common) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<FixedDirichlet>(worlds, common.concentration);
            });
ANESI_PRIOR("observed", "what perception emitted itself: no prior", NoOptions,
            [](const NoOptions&, const Space& worlds, const PriorOptions& common) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<ObservedBeliefs>(worlds, common.fit.window);
            });
ANESI_PRIOR("certain", "beliefs that are certain of a world, every world equally likely", NoOptions,
            [](const NoOptions&, const Space& worlds, const PriorOptions&) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<CertainBeliefs>(worlds);
            });
ANESI_PRIOR("palette", "a few beliefs, laid out in blobs over a grid", PaletteOptions,
            [](const PaletteOptions& options, const Space& worlds, const PriorOptions&)
                -> std::unique_ptr<BeliefPrior> { return std::make_unique<PalettePrior>(worlds, options); });

}  // namespace
}  // namespace anesi
