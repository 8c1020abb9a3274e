#include "anesi/formula/markov_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/logic/file_words.h"
#include "anesi/io/npy.h"
#include "anesi/tensors/arrays.h"

namespace anesi {
namespace {

bool begins_like_a_number(std::string_view word) {
  double number = 0;
  return std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc::invalid_argument;
}

torch::Tensor read_text_table(const std::filesystem::path& file) {
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
  return torch::tensor(numbers, torch::kFloat64).view({rows, columns});
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

torch::Tensor checked_table(const MarkovLogic& logic, const torch::Tensor& table, const char* what) {
  const auto columns = static_cast<std::int64_t>(columns_of(logic).size());
  if (table.dim() != 2 || table.size(1) != columns) {
    throw UsageError(fmt::format("{}: {} columns are expected, one for each variable, not {}", what, columns,
                                 table.dim() == 2 ? table.size(1) : 0));
  }
  return table.to(torch::kCPU, torch::kFloat64);
}

// Throws where a row is bad.
void refuse_rows(const torch::Tensor& bad, const char* what, const std::string& why) {
  const auto rows = bad.nonzero();
  if (rows.size(0) > 0) {
    throw UsageError(fmt::format("{}: row {}: {}", what, rows[0][0].item<std::int64_t>() + 1, why));
  }
}

std::string names_of_columns(const MarkovLogic& logic, const std::vector<std::int64_t>& columns) {
  const auto variables = columns_of(logic);
  std::vector<int> names;
  for (const auto column : columns) names.push_back(variables[as_size(column)]);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

torch::Tensor read_table(const std::filesystem::path& file) {
  if (file.extension() != ".npy") return read_text_table(file);
  const auto table = tensor_of(read_npy(file));
  if (table.dim() != 2) throw Error(fmt::format("{}: an array of two dimensions is expected", file.string()));
  return table.to(torch::kFloat64);
}

std::vector<int> columns_of(const MarkovLogic& logic) {
  const auto& formula = logic.formula().hard;
  auto variables = formula.shown;
  for (int variable = 1; !formula.has_show && variable <= formula.variables; ++variable) variables.push_back(variable);
  std::ranges::sort(variables);
  return variables;
}

torch::Tensor worlds_of(const MarkovLogic& logic, const torch::Tensor& truths) {
  const auto table = checked_table(logic, truths, "worlds");
  refuse_rows(((table != 0) & (table != 1)).any(1), "worlds", "values should be 0 or 1");
  auto worlds = torch::zeros({table.size(0), logic.worlds().variables()}, torch::kInt64);
  for_each_world_variable(logic, [&](std::int64_t variable, const std::vector<std::int64_t>& columns) {
    const auto values = table.index_select(1, torch::tensor(columns, torch::kInt64));
    if (columns.size() > 1) {
      refuse_rows(values.sum(1) != 1, "worlds",
                  fmt::format("exactly one of the variables {} should be 1", names_of_columns(logic, columns)));
    }
    worlds.select(1, variable).copy_(columns.size() > 1 ? values.argmax(1) : values.select(1, 0).to(torch::kInt64));
  });
  return worlds;
}

torch::Tensor beliefs_of(const MarkovLogic& logic, const torch::Tensor& probabilities) {
  const auto table = checked_table(logic, probabilities, "beliefs");
  refuse_rows(((table >= 0) & (table <= 1)).logical_not().any(1), "beliefs", "values should be from 0 to 1");
  auto beliefs =
      torch::zeros({table.size(0), logic.worlds().variables(), logic.worlds().largest_domain()}, torch::kFloat64);
  for_each_world_variable(logic, [&](std::int64_t variable, const std::vector<std::int64_t>& columns) {
    const auto values = table.index_select(1, torch::tensor(columns, torch::kInt64));
    const auto out = beliefs.select(1, variable);
    if (columns.size() == 1) {
      out.slice(1, 0, 2).copy_(torch::cat({1 - values, values}, 1));
      return;
    }
    const auto sums = values.sum(1, /*keepdim=*/true);
    refuse_rows((sums == 0).select(1, 0), "beliefs",
                fmt::format("one of the variables {} holds, so not all can be 0", names_of_columns(logic, columns)));
    out.slice(1, 0, values.size(1)).copy_(values / sums);
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
