#include "fuzz/target.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "anesi/core/error.h"

namespace anesi::fuzz {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

bool add_target(std::string_view name, void (*read)(std::string_view input)) {
  targets().push_back({name, read});
  return true;
}

void expect(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

bool refuses(const Target& target, std::string_view input) {
  constexpr std::size_t kLongestMessage = 1000;
  try {
    target.read(input);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    expect(message.size() <= kLongestMessage, "a message is short");
    expect(message.find('\n') == std::string_view::npos, "a message is one line");
    expect(message.find('\x1b') == std::string_view::npos, "a message holds no escapes");
    return true;
  }
  return false;
}

}  // namespace anesi::fuzz
