#include "anesi/train/q_schedule.h"

#include <gtest/gtest.h>

#include <vector>

#include "anesi/train/train.h"

namespace anesi {
namespace {

// Learning rates of all updates, one phase after another.
std::vector<double> rates(const QSchedule& schedule) {
  std::vector<double> all;
  for (std::int64_t update = 0; update < schedule.alone; ++update) {
    all.push_back(schedule.rate_alone(update).learning_rate);
  }
  for (std::int64_t update = 0; update < schedule.beside; ++update) {
    all.push_back(schedule.rate_beside(update).learning_rate);
  }
  for (std::int64_t update = 0; update < schedule.after; ++update) {
    all.push_back(schedule.rate_after(update).learning_rate);
  }
  return all;
}

TEST(QSchedule, WithoutAJointRateTheThreePhasesShareOneSchedule) {
  for (const auto shape : {Shape::kConstant, Shape::kCosine, Shape::kOneCycle}) {
    const Schedule whole{.lr = 0.1, .shape = shape};
    const QSchedule parts{.schedule = whole, .alone = 4, .beside = 7, .after = 3};
    const auto found = rates(parts);
    for (std::int64_t update = 0; update < 14; ++update) {
      EXPECT_EQ(found[static_cast<std::size_t>(update)], whole.at(update, 14).learning_rate) << name_of(shape);
    }
    // They join up: where one would go on, the next begins, its momentum too.
    EXPECT_EQ(parts.rate_alone(4).learning_rate, parts.rate_beside(0).learning_rate);
    EXPECT_EQ(parts.rate_alone(4).beta1, parts.rate_beside(0).beta1);
    EXPECT_EQ(parts.rate_beside(7).learning_rate, parts.rate_after(0).learning_rate);
    EXPECT_EQ(parts.rate_beside(7).beta1, parts.rate_after(0).beta1);
  }
}

TEST(QSchedule, WithAJointRateItBeginsAnewBesidePerceptionAndOnceMoreAfterIt) {
  const Schedule first{.lr = 0.1, .shape = Shape::kCosine};
  const QSchedule parts{.schedule = first, .joint_lr = 0.02, .alone = 4, .beside = 7, .after = 3};
  const auto found = rates(parts);
  const Schedule joint{.lr = 0.02, .shape = Shape::kCosine};
  for (std::int64_t update = 0; update < 4; ++update) {
    EXPECT_EQ(found[static_cast<std::size_t>(update)], first.at(update, 4).learning_rate);
  }
  for (std::int64_t update = 0; update < 7; ++update) {
    EXPECT_EQ(found[static_cast<std::size_t>(4 + update)], joint.at(update, 7).learning_rate);
  }
  for (std::int64_t update = 0; update < 3; ++update) {
    EXPECT_EQ(found[static_cast<std::size_t>(11 + update)], joint.at(update, 3).learning_rate);
  }
  EXPECT_DOUBLE_EQ(found[0], 0.1);
  EXPECT_DOUBLE_EQ(found[3], 0.002);  // 2 %
  EXPECT_DOUBLE_EQ(found[4], 0.02);
  EXPECT_DOUBLE_EQ(found[10], 0.0004);
  EXPECT_DOUBLE_EQ(found[11], 0.02);
  EXPECT_DOUBLE_EQ(found[13], 0.0004);
}

TEST(QSchedule, CountsTheUpdatesOfEachPhase) {
  const TrainOptions train{.epochs = 3};
  QOptions q{.pretrain = 50, .every = 2};
  RefineOptions refine;
  refine.epochs = 1;
  refine.q_steps = 8;
  const auto counts = [&](bool q_learns) {
    const auto schedule = q_schedule(train, q, refine, q_learns, /*examples=*/25, /*batch=*/10);
    return std::vector<std::int64_t>{schedule.alone, schedule.beside, schedule.after};
  };
  EXPECT_EQ(counts(true), (std::vector<std::int64_t>{50, 5, 8})) << "nine steps, of which every second";
  EXPECT_EQ(counts(false), (std::vector<std::int64_t>{0, 0, 0}));
  refine.epochs = 0;
  EXPECT_EQ(counts(true), (std::vector<std::int64_t>{50, 5, 0})) << "nothing to follow";
  q.frozen = true;
  EXPECT_EQ(counts(true), (std::vector<std::int64_t>{50, 0, 0}));
  q.from = "another run";
  EXPECT_EQ(counts(true), (std::vector<std::int64_t>{0, 0, 0})) << "it has learned already";
}

}  // namespace
}  // namespace anesi
