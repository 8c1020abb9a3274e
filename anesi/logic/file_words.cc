#include "anesi/logic/file_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "anesi/core/error.h"
#include "anesi/core/printable.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

void check_length(std::uint64_t bytes, const std::string& name) {
  if (bytes <= kLargestText) return;
  throw Error(
      fmt::format("{}: {} bytes; files of at most {} are read", name, thousands(bytes), thousands(kLargestText)));
}

}  // namespace

std::string read_text(const std::filesystem::path& path) { return read_file(path, kLargestText); }

FileWords::FileWords(std::string_view text, std::string name) : rest_of_text_(text), name_(std::move(name)) {
  check_length(text.size(), name_);
}

bool FileWords::next_line() {
  while (!rest_of_text_.empty()) {
    const auto length = std::min(rest_of_text_.find('\n'), rest_of_text_.size());
    rest_of_line_ = rest_of_text_.substr(0, length);
    rest_of_text_.remove_prefix(std::min(length + 1, rest_of_text_.size()));
    ++line_;
    if (rest_of_line_.find_first_not_of(kBlanks) != std::string_view::npos) return true;
  }
  rest_of_line_ = {};
  line_ = std::max<std::int64_t>(line_, 1);
  return false;
}

std::string_view FileWords::next_word() {
  rest_of_line_.remove_prefix(std::min(rest_of_line_.find_first_not_of(kBlanks), rest_of_line_.size()));
  const auto word = rest_of_line_.substr(0, rest_of_line_.find_first_of(kBlanks));
  rest_of_line_.remove_prefix(word.size());
  return word;
}

std::string_view FileWords::peek() const {
  const auto rest = rest_of_line_.substr(std::min(rest_of_line_.find_first_not_of(kBlanks), rest_of_line_.size()));
  return rest.substr(0, rest.find_first_of(kBlanks));
}

std::string_view FileWords::required_word(std::string_view what) {
  const auto word = next_word();
  if (word.empty()) fail(fmt::format("the line ends where {} should be", what));
  return word;
}

int FileWords::next_number(std::string_view what, int least, int most) {
  return number_of(required_word(what), what, least, most);
}

int FileWords::number_of(std::string_view word, std::string_view what, int least, int most) const {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) {
    fail(fmt::format("{} should be a number, not {}", what, shown(word)));
  }
  if (error != std::errc() || number < least || number > most) {
    fail(fmt::format("{} should be from {} to {}, not {}", what, least, most, shown(word)));
  }
  return static_cast<int>(number);
}

double FileWords::next_weight() {
  constexpr std::string_view kWanted = "finite and not negative";
  const auto word = required_word("a weight");
  const auto slash = word.find('/');
  auto weight = real_of(word.substr(0, slash), "a weight", kWanted);
  if (slash != std::string_view::npos) {
    const auto divisor = real_of(word.substr(slash + 1), "the divisor of a weight", kWanted);
    if (!(divisor > 0)) fail(fmt::format("the divisor of a weight should be above 0, not {}", shown(word)));
    weight /= divisor;
    if (!std::isfinite(weight)) fail(fmt::format("a weight should be {}, not {}", kWanted, shown(word)));
  }
  if (weight < 0) {
    fail(fmt::format("a weight should be {}, not {}: weights are those of probabilities, whose logarithms are taken",
                     kWanted, shown(word)));
  }
  return weight;
}

double FileWords::real_of(std::string_view word, std::string_view what, std::string_view wanted) const {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) {
    fail(fmt::format("{} should be a number, not {}", what, shown(word)));
  }
  if (error != std::errc() || !std::isfinite(number)) {
    fail(fmt::format("{} should be {}, not {}", what, wanted, shown(word)));
  }
  return number;
}

double FileWords::next_real(std::string_view what) { return real_of(required_word(what), what); }

void FileWords::expect_end() {
  const auto word = next_word();
  if (!word.empty()) fail(fmt::format("the line should end before {}", shown(word)));
}

void FileWords::fail_at(std::int64_t line, std::string_view what) const {
  throw Error(fmt::format("{}:{}: {}", name_, line, what));
}

std::string FileWords::shown(std::string_view word) { return printable_word(word); }

}  // namespace anesi
