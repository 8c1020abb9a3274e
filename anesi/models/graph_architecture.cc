#include "anesi/core/error.h"
#include "anesi/logic/formula_graph.h"
#include "anesi/models/architecture.h"
#include "anesi/models/graph.h"
#include "anesi/models/inference_model.h"

namespace anesi {

ANESI_ARCHITECTURE("graph", "messages between the variables and the clauses of a formula", GraphOptions,
                   [](const GraphOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto* const cnf = problem.facts().find<Cnf>();
                     if (cnf == nullptr) {
                       throw UsageError(
                           "graph: this problem tells no formula (a fact of type Cnf); use mlp or transformer");
                     }
                     return graph_models(factor_graph_of(*cnf, problem.worlds()),
                                         std::make_shared<GraphNetwork>(options), explain);
                   });

}  // namespace anesi
