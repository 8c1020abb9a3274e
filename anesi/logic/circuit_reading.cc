#include "anesi/logic/circuit_reading.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/declaration.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfCheck = 1;

}  // namespace

bool next_line_but_comments(FileWords& words, std::string_view& first) {
  while (words.next_line()) {
    first = words.next_word();
    if (first != "c") return true;
    if (declared_in_comment(words, first) != Declaration::kNone) {
      words.fail("circuits with 'c t', 'c p show' or 'c p weight' are not supported; give the formula as .cnf");
    }
  }
  return false;
}

void expect_one_more(const FileWords& words, std::size_t nodes, int announced) {
  if (nodes == static_cast<std::size_t>(announced)) {
    words.fail(fmt::format("more nodes than the header's {}", announced));
  }
}

void expect_all(const FileWords& words, std::size_t nodes, int announced) {
  if (nodes < static_cast<std::size_t>(announced)) {
    words.fail(fmt::format("the header says {} nodes, there are {}; the file is cut short", announced, nodes));
  }
}

CircuitBuilder::Part build_at(const FileWords& words, std::int64_t line,
                              const std::function<CircuitBuilder::Part()>& build) {
  try {
    return build();
  } catch (const Error& error) {
    words.fail_at(line, error.what());
  }
}

Circuit build_whole(const FileWords& words, const CircuitBuilder& builder, CircuitBuilder::Part top) {
  auto circuit = [&] {
    try {
      return builder.build(top);
    } catch (const Error& error) {
      throw Error(words.name() + ": " + error.what());
    }
  }();
  check_deterministic(circuit, kSeedOfCheck, words.name());
  return circuit;
}

}  // namespace anesi
