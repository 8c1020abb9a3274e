// Randomness in tests: seeds that are told where a test fails, and random beliefs.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "anesi/core/beliefs.h"
#include "anesi/core/seeded.h"

namespace anesi::toys {

// Another seed every time, or that of the environment variable ANESI_TEST_SEED. It is printed, and told again by
// failures as long as it lives.
class RandomSeed {
 public:
  RandomSeed() { std::cout << "ANESI_TEST_SEED=" << seed_ << "\n"; }
  operator std::uint64_t() const { return seed_; }  // NOLINT(google-explicit-constructor)

 private:
  static std::uint64_t draw() {
    const char* const wanted = std::getenv("ANESI_TEST_SEED");
    return wanted != nullptr ? std::stoull(wanted) : std::random_device()();
  }
  std::uint64_t seed_ = draw();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "ANESI_TEST_SEED=" + std::to_string(seed_)};
};

// Beliefs of 64 bits, the surer the larger `sharpness` is; zero past each domain.
inline torch::Tensor random_beliefs(std::int64_t rows, const Space& worlds, double sharpness,
                                    const at::Generator& generator) {
  const auto scores =
      sharpness * torch::randn({rows, worlds.variables(), worlds.largest_domain()}, generator, torch::kFloat64);
  const auto weights = scores.exp() * uniform_beliefs(rows, worlds).to(torch::kFloat64);
  return weights / weights.sum(2, /*keepdim=*/true);
}

}  // namespace anesi::toys
