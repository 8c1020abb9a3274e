// What an error says, for tests. A test asks which things a message names, not how it is worded.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/error.h"

namespace anesi::toys {

template <typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Whether each of these is in the text, not as a part of a longer word or number: files, lines, options, values.
inline ::testing::AssertionResult names(std::string_view text, const std::vector<std::string_view>& things) {
  const auto in_word = [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; };
  for (const auto thing : things) {
    bool found = false;
    for (auto at = text.find(thing); !found && at != std::string_view::npos; at = text.find(thing, at + 1)) {
      const auto end = at + thing.size();
      const bool begins = at == 0 || !in_word(text[at - 1]) || !in_word(thing.front());
      found = begins && (end == text.size() || !in_word(text[end]) || !in_word(thing.back()));
    }
    if (!found) return ::testing::AssertionFailure() << "'" << thing << "' is not named in: " << text;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace anesi::toys
