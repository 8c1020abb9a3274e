// Trainers in random sequences of calls: whatever is run, stopped, saved, loaded and made anew, after n steps all is as
// after n steps of a training that nobody disturbed.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "anesi/testing/call_sequences.h"
#include "anesi/testing/tiny_training.h"

namespace anesi {
namespace {

using Engine = std::mt19937_64;

// States of an undisturbed training, by steps that are done. It ends with its last step, though asked to stop there.
std::vector<NamedTensors> undisturbed(const toys::Plan& plan) {
  toys::Tiny tiny(plan);
  std::vector<NamedTensors> states{tiny.trainer->state()};
  bool ends = false;
  while (!ends) {
    toys::StopAfter one(1);
    ends = tiny.trainer->run(one);
    EXPECT_EQ(one.steps, 0) << "a run without a step";
    states.push_back(tiny.trainer->state());
  }
  return states;
}

class Disturbed {
 public:
  Disturbed(const toys::Plan& plan, const std::vector<NamedTensors>& expected)
      : plan_(plan), expected_(expected), tiny_(std::make_unique<toys::Tiny>(plan)), saved_{{0, expected.front()}} {}

  std::string run(Engine& random) {
    const auto wanted = 1 + static_cast<std::size_t>(toys::drawn_below(6, random));
    toys::StopAfter stop(static_cast<std::int64_t>(wanted));
    const auto ended = tiny_->trainer->run(stop);
    const auto last = expected_.size() - 1;
    if (ended != (steps_ + wanted >= last)) return ended ? "it ended too early" : "it went on past its end";
    steps_ = std::min(steps_ + wanted, last);
    return compared();
  }
  std::string save() {
    saved_[steps_] = tiny_->trainer->state();
    return "";
  }
  std::string load(Engine& random) {
    auto chosen = saved_.begin();
    std::advance(chosen, toys::drawn_below(static_cast<std::int64_t>(saved_.size()), random));
    tiny_->trainer->load_state(chosen->second);
    steps_ = chosen->first;
    return compared();
  }
  // As after a crash: another process, from what was saved.
  std::string make_anew(Engine& random) {
    tiny_ = std::make_unique<toys::Tiny>(plan_);
    return load(random);
  }
  // A state that lacks something is refused, and what was there goes on.
  std::string load_a_part(Engine& random) {
    auto part = expected_.back();
    part.erase("entries");  // the number of all others
    auto lost = part.begin();
    std::advance(lost, toys::drawn_below(static_cast<std::int64_t>(part.size()), random));
    const auto name = lost->first;
    part.erase(lost);
    part["entries"] = expected_.back().at("entries");
    const auto before = tiny_->trainer->state();
    try {
      tiny_->trainer->load_state(part);
    } catch (const Error&) {
      tiny_->trainer->load_state(before);
      return compared();
    }
    return fmt::format("a state without {} was taken", name);
  }

 private:
  std::string compared() const {
    return toys::same_state(tiny_->trainer->state(), expected_[steps_])
               ? ""
               : fmt::format("other than after {} steps", steps_);
  }

  toys::Plan plan_;
  const std::vector<NamedTensors>& expected_;
  std::unique_ptr<toys::Tiny> tiny_;
  std::map<std::size_t, NamedTensors> saved_;  // by steps
  std::size_t steps_ = 0;
};

class TrainerCalls : public testing::TestWithParam<toys::Plan> {};

TEST_P(TrainerCalls, EndWhereAnUndisturbedTrainingDoes) {
  const auto expected = undisturbed(GetParam());
  const auto make = [&, plan = GetParam()](std::uint64_t) -> toys::ComparedCalls {
    const auto disturbed = std::make_shared<Disturbed>(plan, expected);
    return {{"run", [disturbed](Engine& random) { return disturbed->run(random); }},
            {"run on", [disturbed](Engine& random) { return disturbed->run(random); }},
            {"save", [disturbed](Engine&) { return disturbed->save(); }},
            {"load", [disturbed](Engine& random) { return disturbed->load(random); }},
            {"make anew", [disturbed](Engine& random) { return disturbed->make_anew(random); }},
            {"load a part", [disturbed](Engine& random) { return disturbed->load_a_part(random); }}};
  };
  toys::check_call_sequences(make, 6, 25);
}

INSTANTIATE_TEST_SUITE_P(Plans, TrainerCalls,
                         testing::Values(toys::every_phase(), toys::fitted_prior(), toys::in_rounds()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace anesi
