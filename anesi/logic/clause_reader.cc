#include "anesi/logic/clause_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <set>
#include <system_error>

#include "anesi/logic/declaration.h"

namespace anesi {

bool ClauseReader::read_declaration(std::string_view word) {
  const bool is_comment = word.starts_with('c');
  const auto declared = is_comment ? declared_in_comment(words_, word) : declared_in_line(words_, word);
  if (declared == Declaration::kShow || declared == Declaration::kShowToEnd) {
    read_shown(declared == Declaration::kShowToEnd);
  } else if (declared == Declaration::kWeight || declared == Declaration::kWeightOfLine) {
    read_weight(declared == Declaration::kWeightOfLine);
  } else if (declared == Declaration::kAllWeights) {
    read_all_weights();
  }
  return is_comment || declared != Declaration::kNone;
}

int ClauseReader::next_literal() {
  return words_.next_number("a literal", -kMostVariablesOfDimacs, kMostVariablesOfDimacs);
}

void ClauseReader::read_shown(bool to_end) {
  has_show_ = true;
  while (!(to_end && words_.at_end_of_line())) {
    const auto variable = next_literal();
    if (variable == 0) return words_.expect_end();
    shows_.push_back({variable, 0, words_.line()});
  }
}

void ClauseReader::read_weight(bool of_line) {
  const auto weighed = next_literal();
  if (of_line && weighed > 0 && words_.next_is("-1")) {
    words_.next_word();
    for (const auto literal : {weighed, -weighed}) weights_.push_back({literal, 1, words_.line()});
  } else {
    weights_.push_back({weighed, words_.next_weight(), words_.line()});
  }
  if (of_line && words_.at_end_of_line()) return;
  words_.next_number("the 0 that ends a weight", 0, 0);
  words_.expect_end();
}

void ClauseReader::read_all_weights() {
  if (all_weights_ > 0) words_.fail("a second line of all weights");
  line_of_all_ = words_.line();
  for (; !words_.at_end_of_line(); ++all_weights_) {
    const auto variable = static_cast<int>(1 + all_weights_ / 2);
    weights_.push_back({all_weights_ % 2 == 0 ? variable : -variable, words_.next_weight(), line_of_all_});
  }
}

void ClauseReader::compare_clauses(std::size_t of_header, std::size_t found, const Say& warn) const {
  if (!warn || found == of_header) return;
  warn(fmt::format("{}:{}: the header says {} clauses, there are {}{}", words_.name(), words_.line(), of_header, found,
                   found < of_header ? "; is the file cut short?" : ""));
}

int ClauseReader::literal_of(std::string_view word, int variables) const {
  int literal = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), literal);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) {
    words_.fail(fmt::format("a literal should be a number, not {}", FileWords::shown(word)));
  }
  if (error != std::errc() || std::abs(std::int64_t{literal}) > variables) {
    words_.fail(fmt::format("there is no literal {} among {} variables", FileWords::shown(word), variables));
  }
  return literal;
}

void ClauseReader::finish(Dimacs& formula) const {
  formula.has_show = has_show_;
  take_shown(formula);
  take_weights(formula);
}

void ClauseReader::take_shown(Dimacs& formula) const {
  std::set<int> seen;
  for (const auto& [variable, weight, line] : shows_) {
    if (variable < 1 || variable > formula.variables) {
      words_.fail_at(line, fmt::format("there is no variable {} among {} to show", variable, formula.variables));
    }
    if (seen.insert(variable).second) formula.shown.push_back(variable);
  }
}

void ClauseReader::take_weights(Dimacs& formula) const {
  if (all_weights_ > 0 && all_weights_ != 2 * std::int64_t{formula.variables}) {
    words_.fail_at(line_of_all_, fmt::format("{} weights for {} variables; there should be two for each", all_weights_,
                                             formula.variables));
  }
  for (const auto& [literal, weight, line] : weights_) {
    if (literal == 0 || std::abs(literal) > formula.variables) {
      words_.fail_at(line, fmt::format("there is no literal '{}' among {} variables", literal, formula.variables));
    }
    if (!formula.weights.try_emplace(literal, weight).second) {
      words_.fail_at(line, fmt::format("a second weight of literal {}", literal));
    }
  }
  for (const auto& [literal, weight, line] : weights_) {
    if (weight <= 1) formula.weights.try_emplace(-literal, 1 - weight);
  }
}

}  // namespace anesi
