// A prior over beliefs: where the beliefs come from that the inference model is trained on.
//
// The inference model q must answer for every belief P that perception may emit, and perception changes while it
// learns. Algorithm 1 of the paper therefore does not train q on data: it samples a belief from a prior p(P), samples a
// world from the belief, computes the output with the symbolic function, and trains q on the three. The prior follows
// perception: each training step tells it the beliefs just emitted (observe), fits it (fit) and samples from it
// (sample).
//
// Beliefs are [batch, variables, domain] with rows that sum to 1; where domains differ in size the last dimension is
// that of the largest, and what lies past a variable's own domain is zero. Everything is on the CPU. A prior belongs to
// one thread at a time.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "anesi/tensors/named_tensors.h"

namespace anesi {

// Beliefs, and a world of each.
struct SampledWorlds {
  torch::Tensor beliefs;  // [count, variables, domain], float
  torch::Tensor worlds;   // int64 [count, variables]
};

class BeliefPrior {
 public:
  virtual ~BeliefPrior() = default;

  // Takes note of beliefs that perception emitted, [batch, variables, domain]. Keeps a copy without its graph.
  virtual void observe(const torch::Tensor& /*beliefs*/) {}
  // Fits the prior to what was observed. Called once before each update of q.
  virtual void fit() {}
  // [count, variables, domain], float. One draw of the generator decides all of them; an undefined generator means
  // torch's own.
  virtual torch::Tensor sample(std::int64_t count, at::Generator generator) = 0;

  // The same with a world of each belief. By default every variable of it is drawn by itself, as p(w|P) says. A prior
  // may tie variables instead: each is still distributed as its belief says, but what is uncertain about several of
  // them is one question, as it is where perception takes one kind of thing for another.
  virtual SampledWorlds sample_with_worlds(std::int64_t count, at::Generator generator);

  // Everything that sampling and further fitting depend on: a resumed run continues bit for bit on the same kind of
  // machine.
  virtual NamedTensors state() const { return {}; }
  // Throws Error, and changes nothing, where the state is not that of the same prior over the same space.
  virtual void load_state(const NamedTensors& /*state*/) {}
};

// The tensor of that name, type and shape (-1 stands for any size). Throws Error where there is none.
torch::Tensor saved_tensor(const NamedTensors& state, const std::string& name, torch::ScalarType type,
                           torch::IntArrayRef shape);

}  // namespace anesi
