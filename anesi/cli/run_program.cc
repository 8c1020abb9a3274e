#include "anesi/cli/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>

#include "anesi/io/fail.h"

namespace anesi {
namespace {

// In a process group of its own, so that it can be stopped with its children.
pid_t start(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int reason = ::posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (reason != 0) fail(command[0], "cannot run: " + std::generic_category().message(reason));
  return process;
}

// How the process ended, as waitpid tells it, or nothing if it has not by then.
std::optional<int> wait_until(pid_t process, std::chrono::steady_clock::time_point deadline) {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return 0;  // someone else reaped it; its files will show how it went
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

void run_program(const std::vector<std::string>& command, const std::filesystem::path& directory,
                 std::chrono::milliseconds timeout) {
  const pid_t process = start(command, directory);
  const std::optional<int> status = wait_until(process, std::chrono::steady_clock::now() + timeout);
  if (!status) {
    ::kill(-process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    fail(command[0], fmt::format("stopped after {} s without an end", static_cast<double>(timeout.count()) / 1000));
  }
  if (WIFSIGNALED(*status)) fail(command[0], fmt::format("killed by signal {}", WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0) fail(command[0], fmt::format("failed with status {}", WEXITSTATUS(*status)));
}

}  // namespace anesi
