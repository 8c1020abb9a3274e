#include "anesi/formula/markov_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/io/npy.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/file_words.h"

namespace anesi {
namespace {

bool begins_like_a_number(std::string_view word) {
  double number = 0;
  return std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc::invalid_argument;
}

Matrix<double> read_text_table(const std::filesystem::path& file) {
  auto text = read_text(file);
  std::ranges::replace(text, ',', ' ');
  std::ranges::replace(text, ';', ' ');
  FileWords words(text, file.string());
  std::vector<double> numbers;
  std::int64_t rows = 0, columns = 0;
  bool first = true;
  while (words.next_line()) {
    auto word = words.next_word();
    if (std::exchange(first, false) && !begins_like_a_number(word)) continue;
    std::int64_t length = 0;
    for (; !word.empty(); word = words.next_word(), ++length) numbers.push_back(words.real_of(word, "a value"));
    if (rows++ == 0) columns = length;
    if (length != columns) words.fail(fmt::format("{} values, where the rows before have {}", length, columns));
  }
  if (rows == 0) words.fail("there are no rows");
  return Matrix<double>(Rows<const double>(numbers.data(), rows, columns));
}

// Which column a propositional variable stands in.
std::map<int, std::int64_t> places_of(const MarkovLogic& logic) {
  std::map<int, std::int64_t> places;
  for (const auto variable : columns_of(logic)) places.emplace(variable, static_cast<std::int64_t>(places.size()));
  return places;
}

// Calls visit(world variable, columns of its values): one column where it has a propositional variable to itself.
template <typename Visit>
void for_each_world_variable(const MarkovLogic& logic, Visit visit) {
  const auto places = places_of(logic);
  const auto& literals = logic.hard().facts().find<Cnf>()->encoding().worlds;
  for (std::size_t variable = 0; variable < literals.size(); ++variable) {
    const auto& values = literals[variable];
    std::vector<std::int64_t> columns;
    if (values.size() == 2 && values[0] == -values[1]) {
      columns = {places.at(std::abs(values[1]))};
    } else {
      for (const auto literal : values) columns.push_back(places.at(literal));
    }
    visit(static_cast<std::int64_t>(variable), columns);
  }
}

void check_columns(const MarkovLogic& logic, Rows<const double> table, const char* what) {
  const auto columns = std::ssize(columns_of(logic));
  if (table.width() == columns) return;
  throw UsageError(
      fmt::format("{}: {} columns are expected, one for each variable, not {}", what, columns, table.width()));
}

[[noreturn]] void refuse_row(std::int64_t row, const char* what, const std::string& why) {
  throw UsageError(fmt::format("{}: row {}: {}", what, row + 1, why));
}

std::string names_of_columns(const MarkovLogic& logic, const std::vector<std::int64_t>& columns) {
  const auto variables = columns_of(logic);
  std::vector<int> names;
  for (const auto column : columns) names.push_back(variables[as_size(column)]);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Matrix<double> read_table(const std::filesystem::path& file) {
  if (file.extension() != ".npy") return read_text_table(file);
  const auto table = read_npy(file);
  if (table.dimensions() != 2) throw Error(fmt::format("{}: an array of two dimensions is expected", file.string()));
  const auto numbers = doubles_of(table);
  return Matrix<double>(Rows<const double>(numbers.data(), table.shape()[0], table.shape()[1]));
}

std::vector<int> columns_of(const MarkovLogic& logic) {
  const auto& formula = logic.formula().hard;
  auto variables = formula.shown;
  for (int variable = 1; !formula.has_show && variable <= formula.variables; ++variable) variables.push_back(variable);
  std::ranges::sort(variables);
  return variables;
}

Points worlds_of(const MarkovLogic& logic, Rows<const double> truths) {
  check_columns(logic, truths, "worlds");
  for (std::int64_t row = 0; row < truths.size(); ++row) {
    if (!std::ranges::all_of(truths[row], [](double truth) { return truth == 0 || truth == 1; })) {
      refuse_row(row, "worlds", "values should be 0 or 1");
    }
  }
  Points worlds(truths.size(), logic.worlds().variables());
  for_each_world_variable(logic, [&](std::int64_t variable, const std::vector<std::int64_t>& columns) {
    for (std::int64_t row = 0; row < truths.size(); ++row) {
      const auto is_true = [&](std::int64_t column) { return truths[row][as_size(column)] == 1; };
      auto& value = worlds[row][as_size(variable)];
      if (columns.size() == 1) {
        value = is_true(columns[0]) ? 1 : 0;
      } else {
        if (std::ranges::count_if(columns, is_true) != 1) {
          refuse_row(row, "worlds",
                     fmt::format("exactly one of the variables {} should be 1", names_of_columns(logic, columns)));
        }
        value = std::ranges::find_if(columns, is_true) - columns.begin();
      }
    }
  });
  return worlds;
}

Array beliefs_of(const MarkovLogic& logic, Rows<const double> probabilities) {
  check_columns(logic, probabilities, "beliefs");
  for (std::int64_t row = 0; row < probabilities.size(); ++row) {
    if (!std::ranges::all_of(probabilities[row], [](double p) { return p >= 0 && p <= 1; })) {
      refuse_row(row, "beliefs", "values should be from 0 to 1");
    }
  }
  const auto variables = logic.worlds().variables(), domain = logic.worlds().largest_domain();
  Array beliefs(NumberType::kFloat64, {probabilities.size(), variables, domain});
  const auto numbers = beliefs.values<double>();
  std::ranges::fill(numbers, 0.0);
  for_each_world_variable(logic, [&](std::int64_t variable, const std::vector<std::int64_t>& columns) {
    for (std::int64_t row = 0; row < probabilities.size(); ++row) {
      const auto out = numbers.subspan(as_size((row * variables + variable) * domain));
      const auto from = probabilities[row];
      if (columns.size() == 1) {
        out[1] = from[as_size(columns[0])];
        out[0] = 1 - out[1];
        continue;
      }
      double sum = 0;
      for (const auto column : columns) sum += from[as_size(column)];
      if (sum == 0) {
        refuse_row(row, "beliefs",
                   fmt::format("one of the variables {} holds, so not all can be 0", names_of_columns(logic, columns)));
      }
      for (std::size_t value = 0; value < columns.size(); ++value) out[value] = from[as_size(columns[value])] / sum;
    }
  });
  return beliefs;
}

std::string literals_of_world(const MarkovLogic& logic, Values world) {
  const auto& cnf = *logic.hard().facts().find<Cnf>();
  std::vector<int> literals;
  for (std::size_t variable = 0; variable < world.size(); ++variable) {
    const auto& values = cnf.encoding().worlds[variable];
    for (std::size_t value = 0; value < values.size(); ++value) {
      const bool is = static_cast<std::int64_t>(value) == world[variable];
      if (values[value] > 0) literals.push_back(is ? values[value] : -values[value]);
    }
  }
  std::ranges::sort(literals, {}, [](int literal) { return std::abs(literal); });
  return fmt::format("{}", fmt::join(literals, " "));
}

}  // namespace anesi
