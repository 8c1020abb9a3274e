#include "anesi/logic/dimacs.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>

#include "anesi/logic/clause_reader.h"

namespace anesi {
namespace {

class DimacsReader {
 public:
  DimacsReader(std::string_view text, const std::string& name) : reader_(text, name) {}

  Dimacs read(const Say& warn) {
    while (words_.next_line()) {
      const auto word = words_.next_word();
      if (word.starts_with('%')) break;
      if (word == "p") {
        read_header();
      } else if (!reader_.read_declaration(word)) {
        read_literals(word);
      }
    }
    if (!clauses_) words_.fail("there is no header 'p cnf VARIABLES CLAUSES'");
    if (!clause_.empty()) words_.fail_at(began_, "the clause that begins here has no 0 at its end");
    reader_.finish(result_);
    if (needs_weights_ && result_.weights.empty()) {
      words_.fail("the header is of weighted clauses, and no literal has a weight; such a file should end with .wcnf");
    }
    reader_.compare_clauses(*clauses_, result_.clauses.size(), warn);
    return std::move(result_);
  }

 private:
  void read_header() {
    if (clauses_) words_.fail("a second header");
    const auto format = words_.next_word();
    const bool is_projected = format == "pcnf" || format == "wpcnf";
    needs_weights_ = format == "wcnf";
    if (format != "cnf" && !is_projected && !needs_weights_) {
      words_.fail(fmt::format("the header should be 'p cnf VARIABLES CLAUSES', not of {}", FileWords::shown(format)));
    }
    result_.variables = words_.next_number("the number of variables", 0, kMostVariablesOfDimacs);
    clauses_ = static_cast<std::size_t>(words_.next_number("the number of clauses", 0, kMostClauses));
    if (needs_weights_ && !words_.at_end_of_line()) {
      words_.fail(
          "the header should be 'p cnf VARIABLES CLAUSES', not of 'wcnf' with a weight of hard clauses: such a file "
          "should end with .wcnf");
    }
    if (is_projected && !words_.at_end_of_line()) {
      words_.next_number("the number of shown variables", 0, kMostVariablesOfDimacs);
    }
    words_.expect_end();
  }

  void read_literals(std::string_view word) {
    if (!clauses_) {
      words_.fail(fmt::format("there should be a header 'p cnf VARIABLES CLAUSES' before {}", FileWords::shown(word)));
    }
    for (; !word.empty(); word = words_.next_word()) {
      const auto literal = reader_.literal_of(word, result_.variables);
      if (result_.clauses.size() == kMostClauses) words_.fail(fmt::format("more than {} clauses", kMostClauses));
      if (literal == 0) {
        result_.clauses.push_back(clause_);
        clause_.clear();
        continue;
      }
      if (clause_.empty()) began_ = words_.line();
      clause_.push_back(literal);
    }
  }

  ClauseReader reader_;
  FileWords& words_ = reader_.words();
  Dimacs result_;
  std::optional<std::size_t> clauses_;  // as the header says
  std::vector<int> clause_;
  std::int64_t began_ = 0;      // that clause, on this line
  bool needs_weights_ = false;  // or its header is that of another format
};

}  // namespace

Dimacs read_dimacs(const std::filesystem::path& path, const Say& warn) {
  return parse_dimacs(read_text(path), path.string(), warn);
}

Dimacs parse_dimacs(std::string_view text, const std::string& name, const Say& warn) {
  return DimacsReader(text, name).read(warn);
}

std::string to_dimacs(const Dimacs& formula) {
  auto text = fmt::format("p cnf {} {}\n", formula.variables, formula.clauses.size());
  auto out = std::back_inserter(text);
  text += to_dimacs_comments(formula);
  for (const auto& clause : formula.clauses) {
    for (const auto literal : clause) fmt::format_to(out, "{} ", literal);
    text += "0\n";
  }
  return text;
}

std::string to_dimacs_comments(const Dimacs& formula) {
  std::string text;
  auto out = std::back_inserter(text);
  if (formula.has_show) {
    text += "c p show ";
    for (const auto variable : formula.shown) fmt::format_to(out, "{} ", variable);
    text += "0\n";
  }
  for (const auto& [literal, weight] : formula.weights) {
    fmt::format_to(out, "c p weight {} {} 0\n", literal, weight);
    if (weight <= 1 && !formula.weights.contains(-literal)) fmt::format_to(out, "c p weight {} 1 0\n", -literal);
  }
  return text;
}

}  // namespace anesi
