#include "anesi/cli/page_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "anesi/core/build.h"
#include "anesi/core/error.h"

namespace anesi::cli {

PageProcess::PageProcess(const std::filesystem::path& directory, std::int64_t port, const std::string& data) {
  if (!this_build().httplib) throw Error("--serve: this anesi was built without cpp-httplib");
  std::vector<std::string> command{"anesi",
                                   "serve",
                                   std::filesystem::absolute(directory).string(),
                                   "--threads",
                                   "1",
                                   "--parent",
                                   std::to_string(::getpid())};
  if (port > 0) command.insert(command.end(), {"--port", std::to_string(port)});
  if (!data.empty()) command.insert(command.end(), {"--data", data});
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout is the training's
  const int reason = ::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (reason != 0) throw Error("--serve: cannot start the page: " + std::generic_category().message(reason));
}

bool PageProcess::runs() const {
  if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
  return process_ > 0;
}

PageProcess::~PageProcess() {
  if (!runs()) return;
  ::kill(process_, SIGTERM);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace anesi::cli
