#include "anesi/logic/wcnf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>

#include "anesi/logic/clause_reader.h"

namespace anesi {
namespace {

class WcnfReader {
 public:
  WcnfReader(std::string_view text, const std::string& name) : reader_(text, name) {}

  Wcnf read(const Say& warn) {
    while (words_.next_line()) {
      const auto word = words_.next_word();
      if (word == "p") {
        read_header();
      } else if (!reader_.read_declaration(word)) {
        read_clauses(word);
      }
    }
    if (in_clause_) words_.fail_at(began_, "the clause that begins here has no 0 at its end");
    if (!header_ && clauses() == 0) words_.fail("there are no clauses");
    reader_.finish(result_.hard);
    if (header_) reader_.compare_clauses(header_->clauses, clauses(), warn);
    return std::move(result_);
  }

 private:
  struct Header {
    std::size_t clauses;
    double top;  // clauses of this weight or more are hard
  };

  std::size_t clauses() const { return result_.hard.clauses.size() + result_.soft.size(); }

  void read_header() {
    if (header_) words_.fail("a second header");
    if (in_clause_ || clauses() > 0) words_.fail("a header after clauses; it should be the first line");
    if (const auto format = words_.next_word(); format != "wcnf") {
      words_.fail(fmt::format("the header should be 'p wcnf VARIABLES CLAUSES TOP', not of {}{}",
                              FileWords::shown(format),
                              format == "cnf" ? ": a formula without weights is a .cnf file" : ""));
    }
    result_.hard.variables = words_.next_number("the number of variables", 0, kMostVariablesOfDimacs);
    Header header{static_cast<std::size_t>(words_.next_number("the number of clauses", 0, kMostClauses)),
                  std::numeric_limits<double>::infinity()};
    if (const auto top = words_.next_word(); !top.empty()) {
      header.top = words_.real_of(top, "the weight of hard clauses");
      if (header.top <= 0) {
        words_.fail(fmt::format("the weight of hard clauses should be above 0, not {}", FileWords::shown(top)));
      }
    }
    words_.expect_end();
    header_ = header;
  }

  void read_clauses(std::string_view word) {
    for (; !word.empty(); word = words_.next_word()) {
      if (!in_clause_) {
        begin_clause(word);
        continue;
      }
      auto& variables = result_.hard.variables;
      const auto literal = reader_.literal_of(word, header_ ? variables : kMostVariablesOfDimacs);
      if (literal == 0) {
        end_clause();
        continue;
      }
      variables = std::max(variables, std::abs(literal));
      clause_.literals.push_back(literal);
    }
  }

  void begin_clause(std::string_view word) {
    if (clauses() == kMostClauses) words_.fail(fmt::format("more than {} clauses", kMostClauses));
    in_clause_ = true;
    began_ = words_.line();
    clause_ = {};
    is_hard_ = word == "h";
    if (is_hard_ && header_) {
      words_.fail("'h' is for files without a header; here hard clauses have the header's last number as weight");
    }
    if (is_hard_) return;
    clause_.weight = words_.real_of(word, "a weight");
    is_hard_ = header_ && clause_.weight >= header_->top;
  }

  void end_clause() {
    in_clause_ = false;
    if (is_hard_) {
      result_.hard.clauses.push_back(std::move(clause_.literals));
      return;
    }
    if (clause_.literals.empty()) words_.fail_at(began_, "a soft clause without literals, which never holds");
    result_.soft.push_back(std::move(clause_));
  }

  ClauseReader reader_;
  FileWords& words_ = reader_.words();
  Wcnf result_;
  std::optional<Header> header_;
  SoftClause clause_;
  bool in_clause_ = false, is_hard_ = false;
  std::int64_t began_ = 0;  // the clause, on this line
};

}  // namespace

Wcnf read_wcnf(const std::filesystem::path& path, const Say& warn) {
  return parse_wcnf(read_text(path), path.string(), warn);
}

Wcnf parse_wcnf(std::string_view text, const std::string& name, const Say& warn) {
  return WcnfReader(text, name).read(warn);
}

std::string to_wcnf(const Wcnf& formula) {
  auto text = to_dimacs_comments(formula.hard);
  auto out = std::back_inserter(text);
  int largest = 0;
  const auto put = [&](const std::vector<int>& literals) {
    for (const auto literal : literals) {
      fmt::format_to(out, " {}", literal);
      largest = std::max(largest, std::abs(literal));
    }
    text += " 0\n";
  };
  for (const auto& clause : formula.hard.clauses) {
    text += 'h';
    put(clause);
  }
  for (const auto& [literals, weight] : formula.soft) {
    fmt::format_to(out, "{}", weight);
    put(literals);
  }
  // A variable that no clause names is named by one that always holds, or it would be lost.
  if (largest < formula.hard.variables) {
    text += 'h';
    put({formula.hard.variables, -formula.hard.variables});
  }
  return text;
}

}  // namespace anesi
