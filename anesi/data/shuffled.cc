#include "anesi/data/shuffled.h"

#include <numeric>
#include <random>
#include <utility>

#include "anesi/core/index.h"

namespace anesi {

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order(as_size(count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    std::swap(order[place], order[place + random() % (order.size() - place)]);
  }
  return order;
}

}  // namespace anesi
