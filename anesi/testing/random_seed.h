// Seeds of random tests, which are told where a test fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

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

}  // namespace anesi::toys
