#include "anesi/io/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t entries_in(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

// While it lives, a write past this many bytes fails as it would on a full disk, with "File too large".
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(Files, LinksAreFollowedAndWhatIsNoFileIsNotReplaced) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "file", link = directory.path() / "link", fifo = directory.path() / "fifo";
  write_file_atomically(file, "before");
  fs::create_symlink("file", link);
  write_file_atomically(link, "after");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(file, kLargestText), "after");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(toys::names(toys::message_of([&] { write_file_atomically(fifo, "text"); }), {fifo.string()}));
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(entries_in(directory.path()), 3);
}

TEST(Files, ReadBackWhatWasWritten) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a";
  for (const std::string& contents : {std::string("first\0second", 12), std::string(), std::string(100'000, 'x')}) {
    write_file_atomically(path, contents);
    EXPECT_EQ(read_file(path, kLargestText), contents);
  }
  const std::string_view pieces[] = {"one, ", "", "two"};
  write_file_atomically(path, pieces);
  EXPECT_EQ(read_file(path, kLargestText), "one, two");
  EXPECT_EQ(entries_in(directory.path()), 1);
}

TEST(Files, SayWhyTheyCannotBeWritten) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "missing" / "a";
  EXPECT_TRUE(toys::names(toys::message_of([&] { write_file_atomically(path, "x"); }), {path.string()}));
}

TEST(Files, AreNotWrittenByANameWithAZeroInIt) {
  EXPECT_THROW(write_file_atomically(fs::path(std::string("\0", 1)), "a"), Error);
}

TEST(Files, KeepTheOldContentsWhenAWriteFails) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a";
  write_file_atomically(path, "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = toys::message_of([&] { write_file_atomically(path, std::string(5000, 'x')); });
  }
  EXPECT_TRUE(toys::names(message, {path.string(), std::strerror(EFBIG)}));
  EXPECT_EQ(read_file(path, kLargestText), "old");
  EXPECT_EQ(entries_in(directory.path()), 1);

  fs::create_directories(directory.path() / "folder" / "inside");
  const auto folder = directory.path() / "folder";
  EXPECT_TRUE(toys::names(toys::message_of([&] { write_file_atomically(folder, "x"); }),
                          {folder.string(), std::strerror(EISDIR)}));
  EXPECT_EQ(entries_in(directory.path()), 2);
}

TEST(Files, AreWrittenInManyPieces) {
  const TemporaryDirectory directory;
  std::vector<std::string> pieces;
  std::string all;
  for (int piece = 0; piece < 3000; ++piece) {  // more than the system takes at once
    pieces.push_back(piece % 7 == 0 ? "" : std::to_string(piece));
    all += pieces.back();
  }
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  write_file_atomically(directory.path() / "a", views);
  EXPECT_EQ(read_file(directory.path() / "a", kLargestText), all);
}

TEST(Files, AreWrittenBesideWhatAKilledProcessOfTheSameNumberLeft) {
  const TemporaryDirectory directory;
  for (int count = 0; count < 3000; ++count) {
    std::ofstream(directory.path() / fmt::format(".a.{}-{}", ::getpid(), count)) << "half";
  }
  EXPECT_NO_THROW(write_file_atomically(directory.path() / "a", "whole"));
  EXPECT_EQ(read_file(directory.path() / "a", kLargestText), "whole");
}

TEST(Files, LeftByKilledProcessesAreRemoved) {
  const TemporaryDirectory directory;
  const std::set<std::string> kept = {"a", ".hidden", ".-", ".1-2", "a.12-3", ".a.12-", ".a.-3", ".a.b-3", ".a.12-3x"};
  for (const auto& name : kept) std::ofstream(directory.path() / name) << "kept";
  for (const char* name : {".a.12-3", ".config.toml.4711-0"}) std::ofstream(directory.path() / name) << "half";
  remove_leftovers(directory.path());
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(directory.path())) found.insert(entry.path().filename().string());
  EXPECT_EQ(found, kept);
  EXPECT_NO_THROW(remove_leftovers(directory.path() / "missing"));
}

TEST(Files, OthersStayWhereOnlyThoseOfOneFileAreRemoved) {
  const TemporaryDirectory directory;
  for (const char* name : {".a.12-3", ".ab.12-3", ".b.a.12-3"}) std::ofstream(directory.path() / name) << "half";
  remove_leftovers_of(directory.path() / "a");
  EXPECT_FALSE(fs::exists(directory.path() / ".a.12-3"));
  EXPECT_TRUE(fs::exists(directory.path() / ".ab.12-3"));
  EXPECT_TRUE(fs::exists(directory.path() / ".b.a.12-3"));
}

TEST(Files, GrowByWholeLinesOnly) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "log";
  append_to_file(path, "first\n");
  append_to_file(path, "second\n");
  std::string message;
  {
    const FileSizeLimit limit(20);
    message = toys::message_of([&] { append_to_file(path, "a third line\n"); });
  }
  EXPECT_TRUE(toys::names(message, {path.string(), std::strerror(EFBIG)}));
  EXPECT_EQ(read_file(path, kLargestText), "first\nsecond\n");
}

TEST(Files, DirectoriesAreMadeOrTheReasonIsTold) {
  const TemporaryDirectory directory;
  make_directories(directory.path() / "a" / "b/");
  make_directories(directory.path() / "a" / "b");
  EXPECT_TRUE(fs::is_directory(directory.path() / "a" / "b"));
  write_file_atomically(directory.path() / "file", "x");
  const auto below = directory.path() / "file" / "c";
  EXPECT_TRUE(
      toys::names(toys::message_of([&] { make_directories(below); }), {below.string(), std::strerror(ENOTDIR)}));
}

class ReplaceDirectory : public ::testing::Test {
 protected:
  void fill(const std::string& name, const std::string& contents) {
    fs::create_directories(root() / name);
    write_file_atomically(root() / name / contents, contents);
  }
  const fs::path& root() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(ReplaceDirectory, MakesTheTarget) {
  fill("fresh", "new");
  replace_directory(root() / "fresh", root() / "target");
  EXPECT_EQ(read_file(root() / "target" / "new", kLargestText), "new");
  EXPECT_EQ(entries_in(root()), 1);
}

TEST_F(ReplaceDirectory, ReplacesTheTargetWhole) {
  fill("fresh", "new");
  fill("target", "old");
  replace_directory(root() / "fresh/", root() / "target/");
  EXPECT_EQ(read_file(root() / "target" / "new", kLargestText), "new");
  EXPECT_FALSE(fs::exists(root() / "target" / "old"));
  EXPECT_EQ(entries_in(root()), 1);
}

TEST_F(ReplaceDirectory, LosesNothingWhenItFails) {
  fill("target", "old");
  EXPECT_THROW(replace_directory(root() / "missing", root() / "target"), Error);
  fill("fresh", "new");
  write_file_atomically(root() / "file", "file");
  EXPECT_THROW(replace_directory(root() / "fresh", root() / "file"), Error);
  EXPECT_THROW(replace_directory(root() / "file", root() / "target"), Error);
  EXPECT_THROW(replace_directory(root() / "fresh", root() / "nowhere" / "target"), Error);
  EXPECT_EQ(read_file(root() / "target" / "old", kLargestText), "old");
  EXPECT_EQ(read_file(root() / "fresh" / "new", kLargestText), "new");
  EXPECT_EQ(read_file(root() / "file", kLargestText), "file");
}

TEST(DirectoryLock, IsHeldByOneAtATime) {
  const TemporaryDirectory directory;
  const auto refused = [&] {
    return toys::names(toys::message_of([&] { DirectoryLock second(directory.path()); }),
                       {directory.path().string(), std::to_string(::getpid())});
  };
  std::optional<DirectoryLock> lock(directory.path());
  EXPECT_TRUE(refused());

  DirectoryLock moved = std::move(*lock);
  lock.reset();
  EXPECT_TRUE(refused());

  const TemporaryDirectory elsewhere;
  moved = DirectoryLock(elsewhere.path());
  EXPECT_NO_THROW(DirectoryLock{directory.path()});
  EXPECT_THROW(DirectoryLock{elsewhere.path()}, Error);
}

TEST(DirectoryLock, EndsWithItsProcess) {
  const TemporaryDirectory directory;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const DirectoryLock lock(directory.path());
    if (::write(ready[1], "r", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(toys::names(toys::message_of([&] { DirectoryLock lock(directory.path()); }), {std::to_string(child)}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(DirectoryLock(directory.path(), DirectoryLock::WhenHeld::wait));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DirectoryLock, NeedsTheDirectory) {
  const TemporaryDirectory directory;
  const auto missing = directory.path() / "missing";
  EXPECT_TRUE(toys::names(toys::message_of([&] { DirectoryLock lock(missing); }), {missing.string()}));
}

TEST(TemporaryDirectory, IsRemovedWithWhatIsInIt) {
  fs::path path;
  {
    const TemporaryDirectory directory;
    path = directory.path();
    fs::create_directories(path / "inside");
    write_file_atomically(path / "inside" / "a", "a");
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace anesi
