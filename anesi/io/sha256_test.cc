#include "anesi/io/sha256.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "anesi/core/error.h"
#include "anesi/io/files.h"

namespace anesi {
namespace {

// The vectors of FIPS 180-4 and its companion examples.
TEST(Sha256, GivesTheKnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths at which the padding just fits the last block, and just does not.
TEST(Sha256, PadsAroundTheBlockBoundary) {
  EXPECT_EQ(sha256(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Sha256, ReadsAFile) {
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "abc", "abc");
  EXPECT_EQ(sha256_of_file(directory.path() / "abc"), sha256("abc"));
  EXPECT_THROW(sha256_of_file(directory.path() / "missing"), Error);
}

}  // namespace
}  // namespace anesi
