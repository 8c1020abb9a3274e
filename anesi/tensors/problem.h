// Problems asked with tensors. Worlds and outputs are int64 [batch, variables]; answers are on the worlds' device.
#pragma once

#include <torch/torch.h>

#include "anesi/core/known_variables.h"
#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/core/random.h"
#include "anesi/core/trace.h"

namespace anesi {

// c of each row.
torch::Tensor apply(const Problem& problem, const torch::Tensor& worlds);

// As core/score.h says, float [batch].
torch::Tensor regret(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs);
torch::Tensor distance(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs,
                       const torch::Tensor& wanted);

// The outputs of worlds that tables tell.
torch::Tensor look_up(const OutputTables& tables, const torch::Tensor& worlds, const Space& space);

// What c knows on the way, int64 [batch, …].
torch::Tensor trace_of(const Trace& trace, const torch::Tensor& worlds);

// Values of known variables at random, int64 [count, known variables]. One draw of the generator decides all.
torch::Tensor draw_known(const KnownVariables& known, std::int64_t count, at::Generator generator);
// Beliefs in all variables, certain of the known ones, from beliefs in the others and the values of the known ones.
// Differentiable in the beliefs.
torch::Tensor complete_beliefs(const KnownVariables& known, const torch::Tensor& of_others, const torch::Tensor& values,
                               const Space& worlds);
// The same of worlds, int64 [batch, other variables].
torch::Tensor complete_worlds(const KnownVariables& known, const torch::Tensor& of_others, const torch::Tensor& values,
                              const Space& worlds);
// Beliefs in the other variables, from beliefs in all.
torch::Tensor beliefs_in_others(const KnownVariables& known, const torch::Tensor& beliefs, const Space& worlds);

}  // namespace anesi
