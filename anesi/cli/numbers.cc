#include "anesi/cli/numbers.h"

#include <fmt/format.h>

#include <charconv>

#include "anesi/core/printable.h"
#include "anesi/run/configuration.h"

namespace anesi::cli {
namespace {

// A check of an option's text: all of it is a number in the range. `what` is "a whole number from 1 to 3".
template <typename Number>
CLI::Validator number_in(Number least, Number most, const std::string& what, const std::string& range) {
  const auto check = [=](const std::string& text) {
    Number number{};
    const auto* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    const bool good = failure == std::errc() && stop == end && number >= least && number <= most;  // nan compares false
    return good ? std::string() : fmt::format("{} is not {} {}", printable(text), what, range);
  };
  return {check, range};
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto range = most == kNoLimit ? fmt::format("from {} on", least) : fmt::format("from {} to {}", least, most);
  return number_in(least, most, "a whole number", range);
}

CLI::Validator real_number(double least, double most) {
  return number_in(least, most, "a number", fmt::format("from {} to {}", least, most));
}

CLI::Validator seed_number() { return whole_number(0, kLargestSeed); }

}  // namespace anesi::cli
