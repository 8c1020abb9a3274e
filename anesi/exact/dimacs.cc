#include "anesi/exact/dimacs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "anesi/exact/file_words.h"

namespace anesi {
namespace {

constexpr int kMostVariablesOfDimacs = 10'000'000, kMostClauses = 10'000'000;

class DimacsReader {
 public:
  DimacsReader(std::string_view text, const std::string& name) : words_(text, name) {}

  Dimacs read() {
    while (words_.next_line()) {
      const auto word = words_.next_word();
      if (word.starts_with('%')) break;
      if (word.starts_with('c')) {
        read_comment(word);
      } else if (word == "p") {
        read_header();
      } else {
        read_literals(word);
      }
    }
    if (!clauses_) words_.fail("there is no header 'p cnf VARIABLES CLAUSES'");
    if (!clause_.empty()) words_.fail_at(began_, "the clause that begins here has no 0 at its end");
    if (result_.clauses.size() < *clauses_) {
      words_.fail(fmt::format("the header says {} clauses, there are {}; the file is cut short", *clauses_,
                              result_.clauses.size()));
    }
    take_shown();
    take_weights();
    return std::move(result_);
  }

 private:
  struct Said {
    int literal;
    double weight;
    std::int64_t line;
  };

  void read_header() {
    if (clauses_) words_.fail("a second header");
    if (const auto format = words_.next_word(); format != "cnf") {
      words_.fail(fmt::format("the header should be 'p cnf VARIABLES CLAUSES', not of {}", FileWords::shown(format)));
    }
    result_.variables = words_.next_number("the number of variables", 0, kMostVariablesOfDimacs);
    clauses_ = static_cast<std::size_t>(words_.next_number("the number of clauses", 0, kMostClauses));
    words_.expect_end();
  }

  // Lines `c p show` and `c p weight` may come before the header, so what they say is compared with it in the end.
  void read_comment(std::string_view word) {
    if (word != "c" || words_.next_word() != "p") return;
    const auto about = words_.next_word();
    const auto literal = [&] {
      return words_.next_number("a literal", -kMostVariablesOfDimacs, kMostVariablesOfDimacs);
    };
    if (about == "show") {
      result_.has_show = true;
      for (auto variable = literal(); variable != 0; variable = literal())
        shows_.push_back({variable, 0, words_.line()});
      words_.expect_end();
    } else if (about == "weight") {
      const auto weighed = literal();
      weights_.push_back({weighed, words_.next_weight(), words_.line()});
      words_.next_number("the 0 that ends a weight", 0, 0);
      words_.expect_end();
    }
  }

  void read_literals(std::string_view word) {
    if (!clauses_) {
      words_.fail(fmt::format("there should be a header 'p cnf VARIABLES CLAUSES' before {}", FileWords::shown(word)));
    }
    for (; !word.empty(); word = words_.next_word()) {
      int literal = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), literal);
      if (end != word.data() + word.size() || error == std::errc::invalid_argument) {
        words_.fail(fmt::format("a literal should be a number, not {}", FileWords::shown(word)));
      }
      if (error != std::errc() || std::abs(std::int64_t{literal}) > result_.variables) {
        words_.fail(
            fmt::format("there is no literal {} among {} variables", FileWords::shown(word), result_.variables));
      }
      if (result_.clauses.size() == *clauses_) {
        words_.fail(fmt::format("more clauses than the {} of the header", *clauses_));
      }
      if (literal == 0) {
        result_.clauses.push_back(clause_);
        clause_.clear();
        continue;
      }
      if (clause_.empty()) began_ = words_.line();
      clause_.push_back(literal);
    }
  }

  void take_shown() {
    std::set<int> seen;
    for (const auto& [variable, weight, line] : shows_) {
      if (variable < 1 || variable > result_.variables) {
        words_.fail_at(line, fmt::format("there is no variable {} among {} to show", variable, result_.variables));
      }
      if (seen.insert(variable).second) result_.shown.push_back(variable);
    }
  }

  void take_weights() {
    for (const auto& [literal, weight, line] : weights_) {
      if (literal == 0 || std::abs(literal) > result_.variables) {
        words_.fail_at(line, fmt::format("there is no literal '{}' among {} variables", literal, result_.variables));
      }
      if (!result_.weights.try_emplace(literal, weight).second) {
        words_.fail_at(line, fmt::format("a second weight of literal {}", literal));
      }
    }
    for (const auto& [literal, weight, line] : weights_) {
      if (weight <= 1) result_.weights.try_emplace(-literal, 1 - weight);
    }
  }

  FileWords words_;
  Dimacs result_;
  std::optional<std::size_t> clauses_;  // as the header says
  std::vector<int> clause_;
  std::int64_t began_ = 0;  // that clause, on this line
  std::vector<Said> shows_, weights_;
};

}  // namespace

Dimacs read_dimacs(const std::filesystem::path& path) { return parse_dimacs(read_text(path), path.string()); }

Dimacs parse_dimacs(std::string_view text, const std::string& name) { return DimacsReader(text, name).read(); }

std::string to_dimacs(const Dimacs& formula) {
  auto text = fmt::format("p cnf {} {}\n", formula.variables, formula.clauses.size());
  auto out = std::back_inserter(text);
  const auto put_list = [&](const std::vector<int>& numbers) {
    for (const auto number : numbers) fmt::format_to(out, "{} ", number);
    text += "0\n";
  };
  if (formula.has_show) {
    text += "c p show ";
    put_list(formula.shown);
  }
  for (const auto& [literal, weight] : formula.weights) {
    fmt::format_to(out, "c p weight {} {} 0\n", literal, weight);
    if (weight <= 1 && !formula.weights.contains(-literal)) fmt::format_to(out, "c p weight {} 1 0\n", -literal);
  }
  for (const auto& clause : formula.clauses) put_list(clause);
  return text;
}

}  // namespace anesi
