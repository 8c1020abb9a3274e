// Where a program begins and ends: faults are counted in between. Loading libtorch takes longer than a small training,
// so one process can also stand before main and fork a child for every request (FAULTS_SERVER=1).
//
// A request on stdin is its length (4 bytes) and strings that end with 0: the working directory, files for stdout and
// stderr, environment variables NAME=VALUE, an empty string, the arguments. The answers on stdout are 4 bytes each: the
// child's process number, then, when it is over, its status as waitpid tells it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "plan.h"

namespace faults {

void tell(const char* line, int length) {
  if (plan().trace.empty()) return;
  const long file = ::syscall(SYS_openat, AT_FDCWD, plan().trace.data(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) return;
  ::syscall(SYS_write, file, line, length);
  ::syscall(SYS_close, file);
}

}  // namespace faults

namespace {

using namespace faults;
using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

void set_alarm() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = plan().signal;
  timer_t timer{};
  const itimerspec after{{0, 0}, {plan().cpu / 1'000'000, plan().cpu % 1'000'000 * 1000}};
  if (::timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0) ::timer_settime(timer, 0, &after, nullptr);
}

long cpu_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

int watched_main(int count, char** arguments) {
  const long before = cpu_microseconds();
  if (plan().cpu > 0) set_alarm();
  in_main = true;
  const int result = real_main(count, arguments, environ);
  in_main = false;
  std::array<char, 200> line{};
  tell(line.data(), std::snprintf(line.data(), line.size(), "end allocations %ld bytes %ld cpu %ld\n",
                                  allocations.load(), most_taken.load(), cpu_microseconds() - before));
  return result;
}

struct Request {
  static constexpr std::size_t kMost = 1 << 16;
  std::array<char, kMost> bytes{};
  std::array<char*, 1024> arguments{};
  int count = 0;

  bool receive() {
    std::uint32_t length = 0;
    if (!fill(&length, sizeof length) || length == 0 || length > kMost) return false;
    return fill(bytes.data(), length) && bytes[length - 1] == '\0' && set_up(length);
  }

 private:
  static bool fill(void* target, std::size_t length) {
    for (std::size_t done = 0; done < length;) {
      const long count = ::syscall(SYS_read, STDIN_FILENO, static_cast<char*>(target) + done, length - done);
      if (count == 0 || (count < 0 && errno != EINTR)) return false;
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return true;
  }

  bool set_up(std::size_t length) {
    count = 0;
    for (std::size_t at = 0; at < length && count + 1 < static_cast<int>(arguments.size());) {
      arguments[static_cast<std::size_t>(count++)] = bytes.data() + at;
      at += std::strlen(bytes.data() + at) + 1;
    }
    arguments[static_cast<std::size_t>(count)] = nullptr;
    return count > 4;
  }
};

void point(int descriptor, const char* path) {
  const auto file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0666));
  ::dup2(file, descriptor);
  ::syscall(SYS_close, file);
}

int be_the_child(Request& request) {
  ::signal(SIGINT, SIG_DFL);
  char** next = request.arguments.data();
  if (::chdir(*next++) != 0) return 127;
  point(STDIN_FILENO, "/dev/null");
  point(STDOUT_FILENO, *next++);
  point(STDERR_FILENO, *next++);
  while (**next != '\0') ::putenv(*next++);
  ++next;
  return watched_main(static_cast<int>(request.arguments.data() + request.count - next), next);
}

int serve() {
  static Request request;
  ::signal(SIGINT, SIG_IGN);
  while (request.receive()) {
    const pid_t child = ::fork();
    if (child == 0) return be_the_child(request);
    int status = -1;
    ::syscall(SYS_write, STDOUT_FILENO, &child, sizeof child);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    ::syscall(SYS_write, STDOUT_FILENO, &status, sizeof status);
  }
  return 0;
}

int main_or_server(int count, char** arguments, char** /*environment*/) {
  return std::getenv("FAULTS_SERVER") != nullptr ? serve() : watched_main(count, arguments);
}

}  // namespace

extern "C" int __libc_start_main(Main program, int count, char** arguments, void (*begin)(), void (*end)(),
                                 void (*unload)(), void* stack) {
  real_main = program;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(main_or_server, count, arguments, begin, end, unload, stack);
}
