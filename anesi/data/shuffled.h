// The order in which data are put together.
#pragma once

#include <cstdint>
#include <vector>

namespace anesi {

// 0 to count - 1 in an order that the seed decides; by the Mersenne Twister, so that the data of earlier versions stay
// what they were.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed);

}  // namespace anesi
