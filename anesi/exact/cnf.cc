#include "anesi/exact/cnf.h"

namespace anesi {

Cnf::Cnf(const Space& worlds, const Space& outputs) {
  worlds_ = add_space(worlds);
  outputs_ = add_space(outputs);
}

void Cnf::exactly_one(const std::vector<int>& literals) {
  add(literals);
  for (std::size_t first = 0; first < literals.size(); ++first) {
    for (auto second = first + 1; second < literals.size(); ++second) add({-literals[first], -literals[second]});
  }
}

std::vector<std::int64_t> Cnf::shape_of(const Literals& literals) {
  std::vector<std::int64_t> domains;
  for (const auto& values : literals) domains.push_back(static_cast<std::int64_t>(values.size()));
  return domains;
}

Cnf::Literals Cnf::add_space(const Space& space) {
  Literals literals;
  for (const auto domain : space.domains()) {
    auto& values = literals.emplace_back();
    if (domain == 2) {
      const auto variable = fresh_variable();
      values = {-variable, variable};
      continue;
    }
    for (std::int64_t value = 0; value < domain; ++value) values.push_back(fresh_variable());
    exactly_one(values);
  }
  return literals;
}

}  // namespace anesi
