// What an error says, for tests.
#pragma once

#include <string>

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

}  // namespace anesi::toys
