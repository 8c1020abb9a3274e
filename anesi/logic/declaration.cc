#include "anesi/logic/declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace anesi {
namespace {

struct Unsupported {
  std::string_view word, what;
};

constexpr std::string_view kProjected =
    "projected counting is not supported; if these variables define the others, write 'c p show' in place of this";

// After `c`.
constexpr std::array<Unsupported, 3> kComments{{
    {"ind", kProjected},
    {"max", "counting that maximises over variables is not supported"},
    {"weights", "weights in one line are not supported; write a line 'c p weight LITERAL WEIGHT 0' for each literal"},
}};

// At the beginning of a line.
constexpr std::array<Unsupported, 8> kLines{{
    {"w", "weights by 'w' are not supported; write 'c p weight LITERAL WEIGHT 0'"},
    {"v", kProjected},
    {"vp", kProjected},
    {"x", "XOR clauses are not supported; write them as clauses"},
    {"e", "quantified formulas are not supported"},
    {"a", "quantified formulas are not supported"},
    {"r", "quantified formulas are not supported"},
    {"d", "quantified formulas are not supported"},
}};

bool is_number(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return !word.empty() && end == word.data() + word.size() && error != std::errc::invalid_argument;
}

void refuse_other_tasks(FileWords& words) {
  const auto task = words.next_word();
  if (task.empty() || task == "mc" || task == "wmc") return;
  const bool is_known = task == "pmc" || task == "pwmc" || task.starts_with("amc");
  if (!is_known && !words.next_word().empty()) return;
  words.fail(
      fmt::format("the file asks for the task {}, which is not supported; mc and wmc are", FileWords::shown(task)));
}

Declaration property_of(FileWords& words) {
  const auto property = words.next_word();
  if (property == "show") return Declaration::kShow;
  if (property == "weight") return Declaration::kWeight;
  if (is_number(words.next_word())) {
    words.fail(fmt::format("'c p' with {} is not supported; show and weight are", FileWords::shown(property)));
  }
  return Declaration::kNone;
}

}  // namespace

Declaration declared_in_comment(FileWords& words, std::string_view first) {
  if (first == "cr" && is_number(words.next_word())) words.fail(fmt::format("'cr': {}", kProjected));
  if (first != "c") return Declaration::kNone;
  const auto about = words.next_word();
  if (about == "p") return property_of(words);
  if (about == "t") refuse_other_tasks(words);
  const auto* const found = std::ranges::find(kComments, about, &Unsupported::word);
  if (found != kComments.end() && is_number(words.next_word())) {
    words.fail(fmt::format("'c {}': {}; if it is a comment, begin it with another word", about, found->what));
  }
  return Declaration::kNone;
}

void refuse_line_of_other_format(const FileWords& words, std::string_view first) {
  const auto* const found = std::ranges::find(kLines, first, &Unsupported::word);
  if (found != kLines.end()) words.fail(fmt::format("'{}': {}", first, found->what));
}

}  // namespace anesi
