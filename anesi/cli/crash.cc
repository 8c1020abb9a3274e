#include "anesi/cli/crash.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>

namespace anesi::cli {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitizerTells = true;  // which says more
#else
constexpr bool kSanitizerTells = false;
#endif

// All that a signal handler may touch is made beforehand.
std::array<char, 8192> line;
std::size_t line_length = 0;
std::array<char, 1 << 16> stack_of_its_own;  // the usual one may be what overflowed

void on_crash(int number) {
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line_length));
  ::raise(number);  // the handler is gone by now
}

}  // namespace

void tell_of_crashes(const std::filesystem::path& run) {
  if (kSanitizerTells) return;
  const auto end = fmt::format_to_n(line.data(), line.size(),
                                    "{}anesi: a library crashed, perhaps for want of memory; what is saved goes on "
                                    "with: anesi train --resume {}\n",
                                    ::isatty(STDERR_FILENO) != 0 ? "\n" : "", run.string());
  line_length = std::min(end.size, line.size());
  const stack_t stack{stack_of_its_own.data(), 0, stack_of_its_own.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(number, &action, nullptr);
  std::set_terminate([] { std::abort(); });  // without the lines that it prints by default
}

}  // namespace anesi::cli
