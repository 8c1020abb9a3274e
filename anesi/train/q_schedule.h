// At what rate q learns, in the phases in which it does.
#pragma once

#include "anesi/train/options.h"

namespace anesi {

// One schedule over all updates of q or, with a joint_lr, one before perception starts and another that begins anew
// beside it and once more after it.
struct QSchedule {
  Schedule schedule;
  double joint_lr = 0;
  std::int64_t alone = 0, beside = 0, after = 0;  // updates in each phase

  Rate rate_alone(std::int64_t update) const { return joint_lr == 0 ? in_all(update) : schedule.at(update, alone); }
  Rate rate_beside(std::int64_t update) const {
    return joint_lr == 0 ? in_all(alone + update) : anew().at(update, beside);
  }
  Rate rate_after(std::int64_t update) const {
    return joint_lr == 0 ? in_all(alone + beside + update) : anew().at(update, after);
  }

 private:
  Rate in_all(std::int64_t update) const { return schedule.at(update, alone + beside + after); }
  Schedule anew() const {
    auto again = schedule;
    again.lr = joint_lr;
    return again;
  }
};

}  // namespace anesi
