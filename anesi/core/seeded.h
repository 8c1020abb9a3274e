// Random numbers that a seed decides.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>

namespace anesi {

inline at::Generator seeded(std::uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

}  // namespace anesi
