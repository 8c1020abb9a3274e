// How far training is: a bar on a terminal, a line now and then elsewhere, also on a terminal that says it is dumb
// (TERM=dumb). Writes to stderr.
#pragma once

#include <chrono>
#include <string>

#include "anesi/train/trainer.h"

namespace anesi::cli {

class ProgressDisplay {
 public:
  ProgressDisplay();
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(const Progress& progress);
  // A line that stays, above the bar.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  bool terminal_, drawn_ = false;
  Clock::time_point last_;
  // Where the current phase began, for the rate.
  std::string phase_;
  Clock::time_point phase_start_;
  std::int64_t phase_first_step_ = 0;
};

// A bar, as full as the share that is done, and a text, in at most so many columns: the bar goes first where they do
// not hold both, then the end of the text.
std::string bar_line(double done, const std::string& text, std::size_t columns);

// "1:05:09", "3:07" or "12 s".
std::string duration_text(double seconds);

}  // namespace anesi::cli
