// HTTP requests as a client sends them: a line, headers, an empty line and a body.
#include "anesi/serve/question.h"

#include "fuzz/target.h"

namespace anesi::fuzz {
namespace {

std::string_view until(std::string_view& text, std::string_view end) {
  const auto at = std::min(text.find(end), text.size());
  const auto piece = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + end.size()));
  return piece;
}

serve::HttpRequest request_of(std::string_view text) {
  serve::HttpRequest request;
  auto head = until(text, "\n\n");
  auto line = until(head, "\n");
  request.method = until(line, " ");
  request.target = until(line, " ");
  while (!head.empty()) {
    auto header = until(head, "\n");
    const auto name = until(header, ": ");
    request.headers.emplace_back(name, header);
  }
  request.body = text;
  return request;
}

// What the answers rely on.
void check(const serve::InputQuestion& input) {
  expect(input.split == "train" || input.split == "validation" || input.split == "test", "a split is one of three");
  expect(input.index >= 0, "an index is not negative");
  for (const auto& [part, bytes] : input.parts) expect(part >= 0, "a part is counted from 0");
  for (const auto& [number, value] : input.numbers) expect(number >= 0 && value == value, "a number is one");
}

template <typename Asked>
void check_asked(const Asked& asked) {
  if constexpr (requires { asked.input; }) check(asked.input);
  if constexpr (requires { asked.top; }) expect(asked.top >= 1 && asked.top <= serve::kMostTop, "top is bounded");
  if constexpr (requires { asked.known; }) {
    for (const auto& [variable, value] : asked.known) expect(variable >= 0 && value >= 0, "what is known is a value");
  }
  if constexpr (requires { asked.count; }) {
    expect(asked.from >= 0 && asked.count >= 0 && asked.count <= serve::kMostRows, "rows are bounded");
  }
  if constexpr (requires { asked.name; }) {
    const std::string_view name = asked.name;
    expect(!name.starts_with('.') && name.find('/') == std::string_view::npos, "a file of the page is in no folder");
  }
}

}  // namespace

ANESI_FUZZ_TARGET("question", [](std::string_view input) {
  const auto request = request_of(input);
  const serve::Site site{.hosts = {"127.0.0.1:8400", "localhost:8400"}, .token = "secret", .cookie = "anesi_8400"};
  // Bodies are also read where the head is not in order, so that inputs need not guess the token.
  bool refused = false;
  try {
    serve::check_head(request, site);
  } catch (const serve::Refusal& refusal) {
    expect(refusal.status() >= 400 && refusal.status() < 500, "a refusal is the client's fault");
    refused = true;
  }
  const auto question = serve::read_question(request);
  std::visit([](const auto& asked) { check_asked(asked); }, question);
  if (refused) throw serve::Refusal(403, "the head is not in order");
});

}  // namespace anesi::fuzz
