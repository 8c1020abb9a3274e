// A product of finite domains: what worlds and outputs are made of.
//
// A point of a space is a row of integers, one a variable, each from 0 to its domain's size less one. An output that is
// shorter than its space ends with kNone.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace anesi {

using Values = std::span<const std::int64_t>;  // one world or one output
using MutableValues = std::span<std::int64_t>;

inline constexpr std::int64_t kNone = -1;   // past the end of a shorter output
inline constexpr std::int64_t kUnset = -2;  // not chosen yet, in a partial world or output

// In an output that is asked about: any value but this one. kNone may be excluded, too.
constexpr std::int64_t other_than(std::int64_t value) { return kUnset - 2 - value; }
// Whether a value is what is asked for, which is a value, kUnset (any) or other_than().
constexpr bool admits(std::int64_t asked, std::int64_t value) {
  return asked == value || asked == kUnset || (asked < kUnset && asked != other_than(value));
}

class Space {
 public:
  // Throws Error where a domain is empty.
  explicit Space(std::vector<std::int64_t> domains);
  Space(std::initializer_list<std::int64_t> domains) : Space(std::vector<std::int64_t>(domains)) {}
  static Space uniform(std::int64_t variables, std::int64_t domain);

  std::int64_t variables() const { return static_cast<std::int64_t>(domains_.size()); }
  std::int64_t domain(std::int64_t variable) const { return domains_[static_cast<std::size_t>(variable)]; }
  std::int64_t largest_domain() const { return largest_domain_; }
  const std::vector<std::int64_t>& domains() const { return domains_; }
  bool all_domains_equal() const;

  // The number of points, as a double because it is astronomical for most problems.
  double points() const;
  // Calls visit(values) for every point, the last variable running fastest. For small spaces.
  template <typename Visit>
  void for_each_point(Visit visit) const;

  bool contains(Values values) const;  // kNone is allowed at the end
  // "" where values is a point of this space, else what is wrong with it.
  std::string complaint(Values values) const;

  bool operator==(const Space&) const = default;

 private:
  std::vector<std::int64_t> domains_;
  std::int64_t largest_domain_ = 0;
};

template <typename Visit>
void Space::for_each_point(Visit visit) const {
  std::vector<std::int64_t> point(domains_.size(), 0);
  while (true) {
    visit(Values(point));
    auto variable = domains_.size();
    while (variable > 0 && ++point[variable - 1] == domains_[variable - 1]) point[--variable] = 0;
    if (variable == 0) return;
  }
}

}  // namespace anesi
