#include "anesi/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <iostream>
#include <new>
#include <system_error>

namespace anesi::cli {
namespace {

// What std::cout writes to: stdout, and why it first failed.
class Output final : public std::streambuf {
 public:
  Output() { setp(letters_.data(), letters_.data() + letters_.size()); }

  int reason() const { return reason_; }

 protected:
  int_type overflow(int_type letter) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(letter, traits_type::eof())) sputc(traits_type::to_char_type(letter));
    return traits_type::not_eof(letter);
  }

  int sync() override {
    for (const char* next = pbase(); next < pptr() && reason_ == 0;) {
      const auto written = ::write(STDOUT_FILENO, next, static_cast<std::size_t>(pptr() - next));
      if (written >= 0) {
        next += written;
      } else if (errno != EINTR) {
        reason_ = errno;
      }
    }
    setp(letters_.data(), letters_.data() + letters_.size());
    return reason_ == 0 ? 0 : -1;
  }

 private:
  std::array<char, 1 << 16> letters_{};
  int reason_ = 0;
};

Output& output() {
  // Stays, for std::cout is flushed once more at the very end; and is there even where there is no memory to be had.
  alignas(Output) static std::array<std::byte, sizeof(Output)> place;
  static auto* const output = new (place.data()) Output;
  return *output;
}

}  // namespace

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The first number that is free is this one. Opened the wrong way round, it cannot be used by mistake.
    [[maybe_unused]] const int held = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::cout.rdbuf(&output());
}

std::string lost_output() {
  std::cout.flush();
  return output().reason() == 0 ? "" : std::generic_category().message(output().reason());
}

}  // namespace anesi::cli
