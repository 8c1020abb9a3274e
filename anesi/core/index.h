// Sizes and places are std::int64_t everywhere; the standard library counts in std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anesi {

constexpr std::size_t as_size(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace anesi
