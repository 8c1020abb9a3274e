#include "anesi/cli/bench_orders.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/check/order_check.h"
#include "anesi/cli/command.h"

namespace anesi::cli {

void bench_orders(std::int64_t formulas, bool json) {
  struct Entry {
    std::string name, architecture;
    std::vector<std::string> settings;
  };
  const std::vector<Entry> entries{{"transformer", "transformer", {}},
                                   {"set, one order", "set", {"any_order=false"}},
                                   {"set, any order", "set", {}}};
  OrderCheckOptions options;
  options.formulas = formulas;
  constexpr std::uint64_t kSeed = 1;
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("{:<18}{:>12}{:>12}{:>12}{:>10}\n", "", "own order", "any order", "satisfied", "seconds");
  }
  for (const auto& [name, architecture, settings] : entries) {
    const auto found = check_orders(architecture, settings, options, kSeed);
    auto any_order = nlohmann::ordered_json(nullptr);
    if (!std::isnan(found.any_order)) any_order = found.any_order;
    rows.push_back({{"name", name},
                    {"own_order", found.divergence},
                    {"each", found.divergences},
                    {"any_order", any_order},
                    {"satisfied", found.satisfied},
                    {"seconds", found.seconds}});
    if (json) continue;
    const auto other = std::isnan(found.any_order) ? std::string("-") : fmt::format("{:.4f}", found.any_order);
    std::cout << fmt::format("{:<18}{:>12.4f}{:>12}{:>12.4f}{:>10.0f}\n", name, found.divergence, other,
                             found.satisfied, found.seconds)
              << std::flush;
  }
  if (json) {
    print_json(nlohmann::ordered_json{{"orders", rows}});
  } else {
    std::cout << fmt::format(
        "KL(p(w|y=1,P) || q(w|y=1,P)) in nats: {} random formulas of {} variables and {} clauses, a q for each, {} "
        "steps;\nany order: in {} orders drawn at random\n",
        options.formulas, options.variables, options.clauses, options.steps, options.orders);
  }
}

}  // namespace anesi::cli
