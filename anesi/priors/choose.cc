#include "anesi/priors/choose.h"

#include "anesi/core/error.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/priors/observed.h"

namespace anesi {

std::unique_ptr<BeliefPrior> make_prior(const Space& worlds, const PriorOptions& options) {
  if (options.kind == "fitted") {
    auto fit = options.fit;
    fit.method = options.method == "newton" ? DirichletFit::Method::kNewton : DirichletFit::Method::kAdam;
    return std::make_unique<FittedDirichlet>(worlds, fit);
  }
  if (options.kind == "fixed") return std::make_unique<FixedDirichlet>(worlds, options.concentration);
  if (options.kind == "observed") return std::make_unique<ObservedBeliefs>(worlds, options.fit.window);
  if (options.kind == "certain") return std::make_unique<CertainBeliefs>(worlds);
  if (options.kind == "palette") return std::make_unique<PalettePrior>(worlds, options.palette);
  throw UsageError("there is no prior " + options.kind);
}

}  // namespace anesi
