#include "anesi/io/input_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/io/files.h"
#include "anesi/io/idx.h"
#include "anesi/io/npy.h"
#include "anesi/io/safetensors.h"
#include "anesi/io/sha256.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

class InputFiles : public testing::Test {
 protected:
  testing::AssertionResult refuses(const fs::path& path, const std::vector<std::string_view>& things = {},
                                   std::uint64_t limit = kLargestText) {
    const auto message = toys::message_of([&] { read_file(path, limit); });
    if (!message.starts_with(path.string() + ": ")) return testing::AssertionFailure() << message;
    return toys::names(message.substr(path.string().size()), things);
  }
  fs::path make_fifo() {
    const auto path = directory_.path() / "fifo";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  TemporaryDirectory directory_;
  fs::path path_ = directory_.path() / "file";
};

TEST_F(InputFiles, AreReadInPartsAndWhole) {
  write_file_atomically(path_, "abcdef");
  const InputFile file(path_, 6);
  EXPECT_EQ(file.size(), 6U);
  EXPECT_EQ(file.take(0, 6), "abcdef");
  EXPECT_EQ(file.take(2, 3), "cde");
  EXPECT_EQ(file.take(6, 0), "");
  EXPECT_EQ(read_file(path_, 6), "abcdef");
}

TEST_F(InputFiles, EndWhereTheyEnded) {
  write_file_atomically(path_, "abcdef");
  const InputFile file(path_, 6);
  const auto beyond = [&](std::uint64_t position, std::uint64_t count) {
    return toys::message_of([&] { file.take(position, count); });
  };
  EXPECT_TRUE(toys::names(beyond(0, 7), {path_.string()}));
  EXPECT_TRUE(toys::names(beyond(7, 0), {path_.string()}));
  EXPECT_TRUE(toys::names(beyond(1, UINT64_MAX), {path_.string()}));
  fs::resize_file(path_, 3);  // by somebody else
  EXPECT_TRUE(toys::names(beyond(0, 6), {path_.string()}));
  EXPECT_EQ(file.take(0, 3), "abc");
}

TEST_F(InputFiles, OfTooManyBytesAreRefusedBeforeTheyAreRead) {
  write_file_atomically(path_, "abcdef");
  EXPECT_TRUE(refuses(path_, {"6", "5"}, 5));
  fs::resize_file(path_, std::uintmax_t{1} << 41);  // takes no room on the disk
  EXPECT_TRUE(refuses(path_, {"2,199,023,255,552", "67,108,864"}));
  // No kind of file is larger than the memory that it would have to fit into.
  EXPECT_TRUE(refuses(path_, {"2,199,023,255,552"}, UINT64_MAX));
}

TEST_F(InputFiles, AreRegularFiles) {
  EXPECT_TRUE(refuses(directory_.path() / "nowhere", {std::strerror(ENOENT)}));
  EXPECT_TRUE(refuses(directory_.path()));
  EXPECT_TRUE(refuses("/dev/zero"));
  EXPECT_TRUE(refuses("/dev/null"));
  EXPECT_TRUE(refuses(make_fifo()));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto socket_path = (directory_.path() / "socket").string();
  ASSERT_LT(socket_path.size(), sizeof(address.sun_path));
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_TRUE(refuses(socket_path));
  ::close(socket);
  fs::create_symlink("file", directory_.path() / "link");
  write_file_atomically(path_, "abc");
  EXPECT_EQ(read_file(directory_.path() / "link", 3), "abc");
}

// A FIFO would let a reader wait for ever, and a huge file would fill the memory.
TEST_F(InputFiles, AreWhatReadersOpen) {
  const auto fifo = make_fifo();
  write_file_atomically(path_, "");
  fs::resize_file(path_, std::uintmax_t{1} << 41);
  const std::vector<std::function<void(const fs::path&)>> readers = {
      [](const fs::path& path) { read_idx(path); }, [](const fs::path& path) { read_npy(path); },
      [](const fs::path& path) { read_safetensors(path); }, [](const fs::path& path) { read_safetensors_shapes(path); },
      [](const fs::path& path) { sha256_of_file(path); }};
  for (const auto& read : readers) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { read(fifo); }), {fifo.string()}));
    EXPECT_TRUE(toys::names(toys::message_of([&] { read(path_); }), {"2,199,023,255,552"}));
  }
}

}  // namespace
}  // namespace anesi
