// What to say of a write that failed because the disk was full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace anesi {

// How much is missing on the disk of this directory for a file of so many bytes: "; it takes 52,000 bytes, 8,192 are
// free: 43,808 are missing". Empty where the failure, an errno, was of another kind.
std::string missing_space(const std::filesystem::path& directory, std::uint64_t bytes, int failure);

}  // namespace anesi
