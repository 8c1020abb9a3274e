#include "anesi/logic/clause_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <set>
#include <system_error>

#include "anesi/logic/declaration.h"

namespace anesi {

void ClauseReader::read_comment(std::string_view word) {
  const auto declared = declared_in_comment(words_, word);
  const auto literal = [&] { return words_.next_number("a literal", -kMostVariablesOfDimacs, kMostVariablesOfDimacs); };
  if (declared == Declaration::kShow) {
    has_show_ = true;
    for (auto variable = literal(); variable != 0; variable = literal()) shows_.push_back({variable, 0, words_.line()});
    words_.expect_end();
  } else if (declared == Declaration::kWeight) {
    const auto weighed = literal();
    weights_.push_back({weighed, words_.next_weight(), words_.line()});
    words_.next_number("the 0 that ends a weight", 0, 0);
    words_.expect_end();
  }
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
