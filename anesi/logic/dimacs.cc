#include "anesi/logic/dimacs.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>

#include "anesi/logic/clause_reader.h"
#include "anesi/logic/declaration.h"

namespace anesi {
namespace {

// Formats of the model counting competition of 2020.
bool is_projected(std::string_view format) { return format == "pcnf" || format == "wpcnf"; }

class DimacsReader {
 public:
  DimacsReader(std::string_view text, const std::string& name) : reader_(text, name) {}

  Dimacs read() {
    while (words_.next_line()) {
      const auto word = words_.next_word();
      if (word.starts_with('%')) break;
      if (word.starts_with('c')) {
        reader_.read_comment(word);
      } else if (word == "p") {
        read_header();
      } else {
        refuse_line_of_other_format(words_, word);
        read_literals(word);
      }
    }
    if (!clauses_) words_.fail("there is no header 'p cnf VARIABLES CLAUSES'");
    if (!clause_.empty()) words_.fail_at(began_, "the clause that begins here has no 0 at its end");
    if (result_.clauses.size() < *clauses_) {
      words_.fail(fmt::format("the header says {} clauses, there are {}; the file is cut short", *clauses_,
                              result_.clauses.size()));
    }
    reader_.finish(result_);
    return std::move(result_);
  }

 private:
  void read_header() {
    if (clauses_) words_.fail("a second header");
    if (const auto format = words_.next_word(); format != "cnf") {
      words_.fail(fmt::format("the header should be 'p cnf VARIABLES CLAUSES', not of {}{}", FileWords::shown(format),
                              is_projected(format) ? ": projected counting is not supported" : ""));
    }
    result_.variables = words_.next_number("the number of variables", 0, kMostVariablesOfDimacs);
    clauses_ = static_cast<std::size_t>(words_.next_number("the number of clauses", 0, kMostClauses));
    words_.expect_end();
  }

  void read_literals(std::string_view word) {
    if (!clauses_) {
      words_.fail(fmt::format("there should be a header 'p cnf VARIABLES CLAUSES' before {}", FileWords::shown(word)));
    }
    for (; !word.empty(); word = words_.next_word()) {
      const auto literal = reader_.literal_of(word, result_.variables);
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

  ClauseReader reader_;
  FileWords& words_ = reader_.words();
  Dimacs result_;
  std::optional<std::size_t> clauses_;  // as the header says
  std::vector<int> clause_;
  std::int64_t began_ = 0;  // that clause, on this line
};

}  // namespace

Dimacs read_dimacs(const std::filesystem::path& path) { return parse_dimacs(read_text(path), path.string()); }

Dimacs parse_dimacs(std::string_view text, const std::string& name) { return DimacsReader(text, name).read(); }

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
