#include "anesi/train/refine.h"

#include <gtest/gtest.h>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"

namespace anesi {
namespace {

// Two variables of three values whose sum is known. An "image" is one pixel that shows its value, so that a perception
// can be right, wrong in a known way, or learn.
class Lookup final : public Perception {
 public:
  explicit Lookup(bool separable = true)
      : logits_(register_parameter("logits", 0.1 * torch::randn({3, 3}))), separable_(separable) {}
  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto shown = ((inputs.flatten(2).select(2, 0) + 1) * 127.5 / 100).round().to(torch::kInt64);
    return logits_.index_select(0, shown.view(-1)).softmax(1).view({inputs.size(0), inputs.size(1), 3});
  }
  bool separable() const override { return separable_; }
  torch::Tensor& logits() { return logits_; }

 private:
  torch::Tensor logits_;
  bool separable_;
};

// Perception looks at each image by itself, or (as far as refinement knows) at an example as a whole.
Task sum_task(bool separable = true) {
  Task task;
  task.problem = make_problem(Space::uniform(2, 3), Space{5}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
  task.make_perception = [separable] { return std::make_shared<Lookup>(separable); };
  task.augment = [](const torch::Tensor& inputs, const at::Generator&) { return inputs; };
  return task;
}

Dataset all_sums() {
  Dataset data;
  data.pool = torch::tensor({0, 100, 200}, torch::kUInt8).view({3, 1, 1});
  data.index = data.worlds = torch::tensor({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}});
  data.outputs = data.worlds.sum(1, /*keepdim=*/true);
  return data;
}

// Sure of 0 and of 2, in two minds about 1.
std::shared_ptr<Lookup> half_blind() {
  auto perception = std::make_shared<Lookup>();
  const torch::NoGradGuard no_gradients;
  perception->logits().copy_(torch::tensor({{9.0, 0.0, 0.0}, {2.0, 1.5, 0.0}, {0.0, 0.0, 9.0}}));
  return perception;
}

TEST(Refine, ALabelCorrectsWhatPerceptionAloneMisreads) {
  const auto task = sum_task();
  const auto data = all_sums();
  const auto perception = half_blind();
  const auto labels = explain_labels(*task.problem, *perception, data, RefineOptions());
  EXPECT_FALSE(torch::equal(most_likely_worlds(perception->forward(data.batch(0, 9).inputs)), data.worlds));
  EXPECT_TRUE(torch::equal(labels.rows, torch::arange(9)));
  EXPECT_TRUE(torch::equal(labels.worlds, data.worlds));
  EXPECT_GT(labels.gap, 0);
}

TEST(Refine, LeavesOutLabelsThatDoNotHoldAndThoseBeyondTheLimit) {
  const auto task = sum_task();
  auto data = all_sums();
  data.holds = torch::ones({9}, torch::kBool);
  data.holds[2] = false;
  const auto labels = explain_labels(*task.problem, *half_blind(), data, RefineOptions());
  EXPECT_TRUE(torch::equal(labels.rows, torch::tensor({0, 1, 3, 4, 5, 6, 7, 8})));
  data.outputs[0] = 4;  // two images of 0 that are said to add up to 4: eighteen nats away
  RefineOptions strict;
  strict.limits.nats = 10;
  EXPECT_EQ(explain_labels(*task.problem, *half_blind(), data, strict).rows[0].item<std::int64_t>(), 1);
}

class RefineInSomeWay : public testing::TestWithParam<std::tuple<int, bool, double, bool>> {};

TEST_P(RefineInSomeWay, LearnsTheExplanationsAndResumesBitForBit) {
  const auto [members, fresh, average, separable] = GetParam();
  const auto task = sum_task(separable);
  const auto data = all_sums();
  RefineOptions options;
  options.epochs = 40;
  options.batch = 4;
  options.members = members;
  options.fresh = fresh;
  options.average = average;
  options.augment = true;
  options.schedule.lr = 0.1;
  const auto labels = explain_labels(*task.problem, *half_blind(), data, RefineOptions());
  const auto make = [&] { return std::make_unique<Refinement>(options, task, *half_blind(), data, labels, 3); };
  const auto straight = make();
  while (straight->steps_done() < straight->steps()) straight->step();
  const auto beliefs = straight->perception()->forward(data.batch(0, 9).inputs);
  check_beliefs(beliefs, task.problem->worlds());
  EXPECT_TRUE(torch::equal(most_likely_worlds(beliefs), data.worlds));

  for (const auto stop : {std::int64_t{7}, straight->steps() / members, straight->steps() - 1}) {
    auto first = make();
    while (first->steps_done() < stop) first->step();
    auto state = first->state();
    for (auto& [name, tensor] : state) tensor = tensor.clone();
    auto second = make();
    second->load_state(state);
    while (second->steps_done() < second->steps()) second->step();
    const auto expected = straight->perception()->parameters(), got = second->perception()->parameters();
    for (std::size_t place = 0; place < expected.size(); ++place)
      EXPECT_TRUE(torch::equal(expected[place], got[place]));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, RefineInSomeWay,
                         testing::Values(std::tuple(1, true, 0.0, true), std::tuple(1, false, 0.9, true),
                                         std::tuple(3, true, 0.9, true), std::tuple(1, true, 0.9, false)));

TEST(Refine, SaysWhatItLacks) {
  auto task = sum_task();
  const auto data = all_sums();
  RefineOptions options;
  options.epochs = 1;
  const ExplainedLabels none{torch::empty({0}, torch::kInt64), torch::empty({0, 2}, torch::kInt64), 40};
  EXPECT_THROW(Refinement(options, task, *half_blind(), data, none, 1), Error);
  options.augment = true;
  task.augment = {};
  const auto labels = explain_labels(*task.problem, *half_blind(), data, RefineOptions());
  EXPECT_THROW(Refinement(options, task, *half_blind(), data, labels, 1), UsageError);
}

}  // namespace
}  // namespace anesi
