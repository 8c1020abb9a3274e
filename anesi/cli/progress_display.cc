#include "anesi/cli/progress_display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace anesi::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(10);

bool understands_escapes() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

// Of the terminal as it is now, for its window may change.
std::size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

std::string bar_line(double done, const std::string& text, std::size_t columns) {
  constexpr std::size_t kBar = 24;
  if (text.size() + kBar + 3 > columns) return text.substr(0, columns);
  const auto filled = static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * kBar);
  return "[" + std::string(filled, '#') + std::string(kBar - filled, '.') + "] " + text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressDisplay::ProgressDisplay() : terminal_(understands_escapes()), last_(Clock::now()) {}

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
  const auto done = static_cast<double>(progress.step) / static_cast<double>(std::max<std::int64_t>(1, progress.steps));
  // A line of all columns would make some terminals go to the next.
  std::cerr << "\r\033[K" << bar_line(done, text, columns() - 1) << std::flush;
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
