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

// At the beginning of a line.
constexpr std::array<Unsupported, 6> kLines{{
    {"v", "it is not known what such a line declares; if these are the variables to count, write 'c p show'"},
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

bool goes_on_with_a_number(FileWords words) { return is_number(words.next_word()); }

Declaration task_of(FileWords& words) {
  const auto task = words.next_word();
  if (task.empty() || task == "mc") return Declaration::kNone;
  if (task == "wmc" || task == "pmc" || task == "pwmc") return Declaration::kTask;
  if (!task.starts_with("amc") && !words.next_word().empty()) return Declaration::kNone;
  words.fail(fmt::format("the file asks for the task {}, which is not supported; mc, wmc, pmc and pwmc are",
                         FileWords::shown(task)));
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
  if (first == "cr" && goes_on_with_a_number(words)) return Declaration::kShowToEnd;
  if (first != "c") return Declaration::kNone;
  const auto about = words.next_word();
  if (about == "p") return property_of(words);
  if (about == "t") return task_of(words);
  if (about != "ind" && about != "weights" && about != "max") return Declaration::kNone;
  if (!goes_on_with_a_number(words)) return Declaration::kNone;
  if (about == "max") {
    words.fail(
        "'c max': counting that maximises over variables is not supported; if it is a comment, begin it with another "
        "word");
  }
  return about == "ind" ? Declaration::kShowToEnd : Declaration::kAllWeights;
}

Declaration declared_in_line(const FileWords& words, std::string_view first) {
  if (first == "vp") return Declaration::kShowToEnd;
  if (first == "w") return Declaration::kWeightOfLine;
  const auto* const found = std::ranges::find(kLines, first, &Unsupported::word);
  if (found != kLines.end()) words.fail(fmt::format("'{}': {}", first, found->what));
  return Declaration::kNone;
}

}  // namespace anesi
