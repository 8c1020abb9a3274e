#include "anesi/tasks/mnist_add/addition.h"

namespace anesi {
namespace {

Space sum_space(std::int64_t digits) {
  std::vector<std::int64_t> domains(static_cast<std::size_t>(digits) + 1, 10);
  domains[0] = 2;
  return Space(std::move(domains));
}

}  // namespace

Addition::Addition(std::int64_t digits)
    : digits_(static_cast<std::size_t>(digits)), worlds_(Space::uniform(2 * digits, 10)), outputs_(sum_space(digits)) {}

void Addition::apply(Values world, MutableValues output) const {
  std::int64_t carry = 0;
  for (auto place = digits_; place-- > 0;) {
    const auto sum = world[place] + world[digits_ + place] + carry;
    output[place + 1] = sum % 10;
    carry = sum / 10;
  }
  output[0] = carry;
}

ReadingOrder Addition::reading_order() const {
  std::vector<ReadingStep> steps;
  const auto digits = static_cast<std::int64_t>(digits_);
  for (auto place = digits; place-- > 0;) {
    steps.push_back({.reads = {place, digits + place}, .emits = place + 1, .kind = 0});
  }
  steps.push_back({.reads = {}, .emits = 0, .kind = 1});
  return ReadingOrder(worlds_, outputs_, std::move(steps));
}

}  // namespace anesi
