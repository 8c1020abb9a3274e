// SHA-256 (FIPS 180-4): tells whether a file is the one it should be.
//
// Written by hand because it is a page long and saves a dependency. It runs at a few hundred megabytes a second, and it
// guards against damage and mix-ups in files we fetch; nothing here is about keys or secrets.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace anesi {

// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

// The same of a file's contents. Throws Error if the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace anesi
