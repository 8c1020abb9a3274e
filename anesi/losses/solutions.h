// Worlds that give the output that is asked for, and beliefs around them: what q(w|y,P) can learn from where almost no
// world gives that output.
//
// Worlds are drawn evenly among those that do: variable by variable among what the pruner allows, then again in
// proportion to how unlikely that was. A belief is then drawn from a Dirichlet distribution that has seen the world
// once. As the Dirichlet is conjugate to beliefs, and here favours no value, the worlds behind a belief P that was
// drawn so are distributed as p(w|y,P): just what q is to learn, with nothing counted.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/pruner.h"

namespace anesi {

class Solutions {
 public:
  // Throws UsageError where the problem has no pruner, or labels are not about one output (AskedOutput).
  explicit Solutions(std::shared_ptr<const Problem> problem);

  struct Drawn {
    torch::Tensor beliefs;  // float [count, worlds, domain]; certain of what inputs tell (KnownVariables)
    torch::Tensor worlds;   // int64 [count, worlds]
    torch::Tensor outputs;  // int64 [count, outputs]
  };
  Drawn draw(std::int64_t count, const at::Generator& generator) const;

 private:
  // Evenly distributed, int64 [count, worlds].
  torch::Tensor draw_worlds(std::int64_t count, const at::Generator& generator) const;

  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<const Pruner> pruner_;
  std::vector<std::int64_t> output_;
};

}  // namespace anesi
