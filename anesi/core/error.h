// Errors that a person can act on.
//
// A message is one line that says what was wrong, where, and what to do: "train-labels: 59,999 labels for 60,000
// images; the file is cut short". The program prints it and exits with 1, or with 2 where the caller asked for
// something that does not exist.
#pragma once

#include <stdexcept>
#include <string>

namespace anesi {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The request itself was wrong: an unknown option, a value out of range, a name that is not there.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace anesi
