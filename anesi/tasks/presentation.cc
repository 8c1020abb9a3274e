#include "anesi/tasks/presentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "anesi/core/error.h"
#include "anesi/tensors/rows.h"

namespace anesi {

std::string Presentation::world(Values world) const { return fmt::format("{}", fmt::join(world, " ")); }

std::string Presentation::output(Values output) const { return fmt::format("{}", fmt::join(output, " ")); }

std::string Presentation::variable(std::int64_t variable) const { return fmt::format("variable {}", variable + 1); }

std::string Presentation::output_variable(std::int64_t variable) const {
  return fmt::format("output {}", variable + 1);
}

std::vector<std::int64_t> Presentation::read_output(const std::string& text) const {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (failure != std::errc())
      throw UsageError(fmt::format("output '{}': numbers with spaces or commas between", text));
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

std::vector<std::int64_t> Presentation::read_named_output(const std::string& text,
                                                          const std::vector<std::string>& names) const {
  const auto named = std::ranges::find(names, text);
  if (named != names.end()) return {named - names.begin()};
  try {
    return Presentation::read_output(text);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("output '{}': write `{}` or a number", text, fmt::join(names, "`, `")));
  }
}

torch::Tensor Presentation::read_input(const std::filesystem::path&) const {
  throw UsageError("this task does not read inputs from files; use --index");
}

std::string Presentation::label(const Observations& label) const {
  if (label.worlds.defined() && (label.worlds != kUnset).all().item<bool>()) return world(values_of(label.worlds[0]));
  const bool holds = !label.holds.defined() || label.holds[0].item<bool>();
  return (holds ? "" : "not ") + output(values_of(label.outputs[0]));
}

}  // namespace anesi
