#include "anesi/testing/call_sequences.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>

namespace anesi::toys {
namespace {

// A counter that forgets its third increment, unless it was looked at in between.
ComparedCalls forgetful_counter(std::uint64_t /*seed*/) {
  struct State {
    int counted = 0, expected = 0, unseen = 0;
  };
  const auto state = std::make_shared<State>();
  return {{"increment",
           [state](std::mt19937_64&) {
             ++state->expected;
             if (++state->unseen != 3) ++state->counted;
             return std::string();
           }},
          {"look",
           [state](std::mt19937_64&) {
             state->unseen = 0;
             return state->counted == state->expected ? std::string()
                                                      : fmt::format("{}, not {}", state->counted, state->expected);
           }},
          {"rest", [](std::mt19937_64&) { return std::string(); }}};
}

TEST(CallSequences, AreCutDownToTheCallsThatMatter) {
  std::uint64_t seed = 1;
  while (drawn_sequence(seed, 60).failure(forgetful_counter).empty()) ++seed;
  const auto least = drawn_sequence(seed, 60).shrunk(forgetful_counter);
  ASSERT_EQ(least.calls.size(), 4U) << least.told(forgetful_counter);
  EXPECT_EQ(least.failure(forgetful_counter), "call 4 of 4, look: 2, not 3");
}

TEST(CallSequences, ThatGoWrongFail) {
  EXPECT_FATAL_FAILURE(check_call_sequences(forgetful_counter, 20, 60), "look: 2, not 3");
}

TEST(CallSequences, TakeExceptionsForFailures) {
  const auto throws = [](std::uint64_t) -> ComparedCalls {
    return {{"throw", [](std::mt19937_64&) -> std::string { throw std::runtime_error("ouch"); }}};
  };
  EXPECT_EQ(drawn_sequence(1, 5).shrunk(throws).failure(throws), "call 1 of 1, throw: threw: ouch");
}

}  // namespace
}  // namespace anesi::toys
