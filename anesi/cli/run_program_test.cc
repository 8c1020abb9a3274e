#include "anesi/cli/run_program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

using std::chrono::milliseconds;

class RunProgram : public ::testing::Test {
 protected:
  std::string error_of(const std::vector<std::string>& command, milliseconds timeout = milliseconds(20'000)) {
    try {
      run_program(command, directory_.path(), timeout);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryDirectory directory_;
};

TEST_F(RunProgram, RunsInTheDirectoryWithoutAShell) {
  EXPECT_EQ(error_of({"touch", "a b; $HOME"}), "no error");
  EXPECT_EQ(read_file(directory_.path() / "a b; $HOME", kLargestText), "");
}

TEST_F(RunProgram, SaysHowItFailed) {
  EXPECT_TRUE(toys::names(error_of({"sh", "-c", "exit 3"}), {"sh", "3"}));
  EXPECT_TRUE(toys::names(error_of({"sh", "-c", "kill -9 $$"}), {"sh", "9"}));
  EXPECT_TRUE(toys::names(error_of({"no-such-program"}), {"no-such-program"}));
}

TEST_F(RunProgram, StopsWhatTakesTooLong) {
  EXPECT_TRUE(toys::names(error_of({"sh", "-c", "sleep 60; true"}, milliseconds(100)), {"sh", "0.1"}));
}

}  // namespace
}  // namespace anesi
