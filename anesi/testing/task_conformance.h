// What every task must get right: for the tests of any task, also of those outside this library.
//
//   TEST(MyTask, Conforms) { anesi::toys::expect_conforming_task("mine", {"task.examples=50"}, seed); }
//
// Settings keep the data small; the task must be registered in the program.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/known_variables.h"
#include "anesi/run/configuration.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/problem_conformance.h"

namespace anesi::toys {

class TaskConformance {
 public:
  TaskConformance(std::string name, std::vector<std::string> settings, std::uint64_t seed)
      : name_(std::move(name)), settings_(std::move(settings)), seed_(seed), task_(make(/*validation=*/false)) {}

  void expect_conforming() const {
    expect_presets();
    expect_well_posed(*task_.problem, seed_);
    const auto data = task_.load();
    expect_data(data);
    expect_perception(*data.train);
    expect_presentation(*data.test);
    expect_augmentation(*data.train);
  }

  void expect_presets() const {
    const auto& presets = tasks().find(name_).presets;
    ASSERT_FALSE(presets.empty());
    std::set<std::string> names;
    for (const auto& preset : presets) {
      EXPECT_TRUE(names.insert(preset.name).second) << "two presets " << preset.name;
      EXPECT_NO_THROW(Configuration(name_, preset.name)) << preset.name;
    }
  }

  // Labels are true of the worlds that are told, and loading again gives the same.
  void expect_data(const Splits& data) const {
    EXPECT_FALSE(data.origin.empty());
    EXPECT_EQ(fingerprint(data), fingerprint(task_.load())) << "other data when they are loaded again";
    const auto held_out = make(/*validation=*/true).load();
    ASSERT_NE(held_out.validation, nullptr) << "no validation examples, though they were asked for";
    for (const auto& examples : {data.train, data.test, held_out.validation}) {
      ASSERT_NE(examples, nullptr);
      ASSERT_GT(examples->size(), 0);
      expect_true_labels(*examples);
    }
  }

  void expect_true_labels(const Examples& examples) const {
    const auto& problem = *task_.problem;
    const auto& labels = examples.labels();
    ASSERT_EQ(labels.size(), examples.size());
    if (!examples.has_worlds()) return;
    const auto& worlds = examples.worlds();
    ASSERT_EQ(worlds.sizes(), (std::vector<std::int64_t>{examples.size(), problem.worlds().variables()}));
    const auto told = (worlds != kUnset).all(1).nonzero().squeeze(1);
    if (told.size(0) == 0) return;
    const auto known = worlds.index_select(0, told).contiguous();
    for (std::int64_t row = 0; row < known.size(0); ++row) {
      ASSERT_EQ(problem.worlds().complaint(row_of(known, row)), "") << "example " << row;
    }
    EXPECT_TRUE(labels.rows(told).agree(apply(problem, known)).all().item<bool>()) << "a label that c does not give";
    if (labels.worlds.defined()) {
      const auto seen = labels.worlds.index_select(0, told);
      EXPECT_TRUE((seen == kUnset).logical_or(seen == known).all().item<bool>()) << "a label that is not the world";
    }
  }

  // Beliefs in all variables, or in those that the inputs do not tell; if separable, the same for each by itself.
  void expect_perception(const Examples& examples) const {
    torch::manual_seed(static_cast<std::int64_t>(seed_ % 1000));
    const auto perception = task_.make_perception();
    const auto batch = examples.batch(0, std::min<std::int64_t>(4, examples.size()));
    const auto seen = batch.known.defined() ? perceived_space(*task_.problem) : task_.problem->worlds();
    perception->eval();
    const auto beliefs = perception->forward(batch.inputs);
    ASSERT_EQ(beliefs.sizes(),
              (std::vector<std::int64_t>{batch.inputs.size(0), seen.variables(), seen.largest_domain()}));
    EXPECT_TRUE(beliefs.isfinite().all().item<bool>());
    EXPECT_GE(beliefs.min().item<double>(), 0);
    EXPECT_LT((beliefs.sum(2) - 1).abs().max().item<double>(), 1e-4);
    const auto padding = uniform_beliefs(1, seen).expand_as(beliefs) == 0;
    EXPECT_TRUE((beliefs.masked_select(padding) == 0).all().item<bool>()) << "past a domain";
    const auto weights = torch::rand(beliefs.sizes(), seeded(seed_));
    (beliefs * weights).sum().backward();
    const auto parameters = perception->parameters();
    EXPECT_TRUE(std::ranges::any_of(parameters, [](const auto& weight) { return weight.grad().defined(); }))
        << "nothing to learn";
    if (perception->separable()) {
      const torch::NoGradGuard no_gradients;
      for (std::int64_t variable = 0; variable < std::min<std::int64_t>(3, seen.variables()); ++variable) {
        const auto rows = torch::arange(batch.inputs.size(0), torch::kInt64);
        const auto alone = perception->forward(examples.inputs_of(rows, torch::full_like(rows, variable)));
        EXPECT_TRUE(torch::allclose(alone.select(1, 0), beliefs.select(1, variable), 1e-3, 1e-4)) << variable;
      }
    }
  }

  // Outputs that can be read are read as they are written.
  void expect_presentation(const Examples& examples) const {
    const auto& shown = *task_.presentation;
    const auto& problem = *task_.problem;
    Random random(seed_);
    const auto worlds = random_points(problem.worlds(), std::min<std::int64_t>(20, examples.size()), random);
    const auto outputs = anesi::apply(problem, worlds);
    for (std::int64_t row = 0; row < worlds.size(); ++row) {
      EXPECT_FALSE(shown.world(worlds[row]).empty());
      EXPECT_FALSE(shown.layout(worlds[row]).empty());
      EXPECT_FALSE(shown.output(outputs[row]).empty());
      if (const auto again = read(shown.output(outputs[row]))) {
        EXPECT_TRUE(std::ranges::equal(*again, outputs[row])) << shown.output(outputs[row]);
      }
    }
    for (std::int64_t variable = 0; variable < problem.worlds().variables(); ++variable) {
      EXPECT_FALSE(shown.variable(variable).empty());
    }
  }

  // By the generator alone, and inputs as large as before.
  void expect_augmentation(const Examples& examples) const {
    if (!task_.augment) return;
    const auto inputs = examples.batch(0, std::min<std::int64_t>(4, examples.size())).inputs;
    const auto before = inputs.clone();
    const auto one = task_.augment(inputs, seeded(seed_)), other = task_.augment(inputs, seeded(seed_));
    EXPECT_EQ(one.sizes(), inputs.sizes());
    EXPECT_TRUE(torch::equal(one, other));
    EXPECT_TRUE(torch::equal(inputs, before)) << "changes what it is given";
  }

 private:
  // Empty if the task cannot read what it writes, but only what is asked about (`valid`).
  std::optional<std::vector<std::int64_t>> read(const std::string& text) const {
    try {
      auto output = task_.presentation->read_output(text);
      output.resize(as_size(task_.problem->outputs().variables()), kNone);
      return output;
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  Task make(bool validation) const {
    Configuration configuration(name_);
    for (const auto& setting : settings_) configuration.table().set(setting);
    configuration.seed = static_cast<std::int64_t>(seed_);
    configuration.train.validation = validation;
    return configuration.make_task({});
  }

  std::string name_;
  std::vector<std::string> settings_;
  std::uint64_t seed_;
  Task task_;
};

inline void expect_conforming_task(const std::string& name, const std::vector<std::string>& settings,
                                   std::uint64_t seed) {
  SCOPED_TRACE(name + ", seed " + std::to_string(seed));
  TaskConformance(name, settings, seed).expect_conforming();
}

}  // namespace anesi::toys
