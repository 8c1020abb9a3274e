// Variables that an input tells outright.
//
// What c is told besides the world can be part of the world: the ends of a path are variables like its edges, only that
// perception is certain of them. Then whatever serves worlds serves c(w, given): every q, every pruner, exact
// inference.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace anesi {

// A fact. Buys a q that learns from beliefs as they will be, and scores that leave out what was never in doubt.
struct KnownVariables {
  std::vector<std::int64_t> variables;
  // Values for them at random, int64 [count, known variables].
  std::function<torch::Tensor(std::int64_t count, at::Generator generator)> draw;
};

}  // namespace anesi
