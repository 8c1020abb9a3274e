// The tests that anesi's own architectures, priors and tasks pass.
#include <anesi/testing/architecture_conformance.h>
#include <anesi/testing/prior_conformance.h>
#include <anesi/testing/task_conformance.h>

#include <algorithm>

#include "count_model.h"

namespace {

TEST(CountModel, Conforms) {
  const auto function = anesi::make_problem(anesi::Space::uniform(4, 3), {3}, [](auto world, auto output) {
    output[0] = std::min<std::int64_t>(std::ranges::count(world, 2), 2);
  });
  const auto problem = anesi::with(function, CountsOnly{2});
  anesi::toys::expect_conforming([&] { return anesi::make_model(*problem, "count"); }, problem);
}

TEST(AlarmTask, Conforms) { anesi::toys::expect_conforming_task("alarm", {"task.examples=50"}, /*seed=*/1); }

// Beliefs of all sensors are one and the same: rooms are cold or hot as a whole.
class OneBelief final : public anesi::BeliefPrior {
 public:
  explicit OneBelief(anesi::Space worlds) : worlds_(std::move(worlds)) {}
  torch::Tensor sample(std::int64_t count, at::Generator generator) override {
    const auto scores = 2 * torch::randn({count, 1, worlds_.largest_domain()}, generator);
    return scores.softmax(2).expand({-1, worlds_.variables(), -1}).contiguous();
  }

 private:
  anesi::Space worlds_;
};

TEST(OneBelief, Conforms) {
  const auto worlds = anesi::Space::uniform(5, 3);
  anesi::toys::expect_conforming_prior([&] { return std::make_unique<OneBelief>(worlds); }, worlds, /*seed=*/1);
}

}  // namespace
