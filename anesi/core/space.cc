#include "anesi/core/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {

Space::Space(std::vector<std::int64_t> domains) : domains_(std::move(domains)) {
  for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
    if (domains_[variable] < 1) {
      throw Error(
          fmt::format("space: variable {} has {} values; a domain needs at least one", variable, domains_[variable]));
    }
    largest_domain_ = std::max(largest_domain_, domains_[variable]);
  }
}

Space Space::uniform(std::int64_t variables, std::int64_t domain) {
  if (variables < 0) throw Error(fmt::format("space: {} variables; the number cannot be negative", variables));
  return Space(std::vector<std::int64_t>(static_cast<std::size_t>(variables), domain));
}

bool Space::all_domains_equal() const {
  return std::ranges::all_of(domains_, [this](std::int64_t domain) { return domain == largest_domain_; });
}

double Space::points() const {
  double points = 1;
  for (const auto domain : domains_) points *= static_cast<double>(domain);
  return points;
}

bool Space::contains(Values values) const { return complaint(values).empty(); }

std::string Space::complaint(Values values) const {
  if (values.size() != domains_.size()) {
    return fmt::format("{} values for {} variables", values.size(), domains_.size());
  }
  bool ended = false;
  for (std::size_t variable = 0; variable < values.size(); ++variable) {
    const auto value = values[variable];
    if (value == kNone) {
      ended = true;
    } else if (ended) {
      return fmt::format("variable {} is {} after the output had ended", variable, value);
    } else if (value < 0 || value >= domains_[variable]) {
      return fmt::format("variable {} is {}; its values are 0 to {}", variable, value, domains_[variable] - 1);
    }
  }
  return "";
}

}  // namespace anesi
