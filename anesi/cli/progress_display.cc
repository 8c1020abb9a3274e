#include "anesi/cli/progress_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>

namespace anesi::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(10);

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDERR_FILENO) != 0), last_(Clock::now()) {}

void ProgressDisplay::update(const Progress& progress) {
  const auto now = Clock::now();
  if (progress.phase != phase_) {
    phase_ = progress.phase;
    phase_start_ = now;
    phase_first_step_ = progress.step;
  }
  if (now - last_ < (terminal_ ? std::chrono::duration_cast<Clock::duration>(kRedraw) : kLineEvery)) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - phase_start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(progress.step - phase_first_step_) / elapsed : 0;
  const auto left = rate > 0 ? duration_text(static_cast<double>(progress.steps - progress.step) / rate) : "?";
  const auto loss = std::isnan(progress.loss) ? progress.q_loss : progress.loss;
  auto text = fmt::format("{:<10} {}/{}  {:.1f} steps/s  {} left  loss {:.4f}", progress.phase, progress.step,
                          progress.steps, rate, left, loss);
  if (progress.epochs > 0) text += fmt::format("  epoch {}/{}", progress.epoch, progress.epochs);
  if (!terminal_) {
    std::cerr << text << '\n';
    return;
  }
  constexpr std::int64_t kWidth = 24;
  const auto filled = static_cast<std::size_t>(kWidth * progress.step / std::max<std::int64_t>(1, progress.steps));
  std::cerr << "\r\033[K[" << std::string(filled, '#') << std::string(static_cast<std::size_t>(kWidth) - filled, '.')
            << "] " << text << std::flush;
  drawn_ = true;
}

void ProgressDisplay::clear() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

void ProgressDisplay::line(const std::string& text) {
  clear();
  std::cerr << text << '\n';
}

}  // namespace anesi::cli
