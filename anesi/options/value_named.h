// Choices by name, where one is asked for alone rather than in a table of options.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "anesi/core/error.h"
#include "anesi/options/option_table.h"

namespace anesi {

// Throws UsageError, which lists the names, where nothing is called so; `what` says what was asked for.
template <NamedEnum Enum>
Enum value_named(std::string_view what, std::string_view name) {
  constexpr auto kNames = names_of(Enum{});
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw UsageError(fmt::format("{}: {} is expected, not {}", what, fmt::join(kNames, ", "), name));
  }
  return static_cast<Enum>(found - kNames.begin());
}

}  // namespace anesi
