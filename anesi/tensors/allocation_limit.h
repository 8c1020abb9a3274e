// A bound on the memory that is spent before anybody knows whether it is of use.
//
// The manifest of a saved model asks for networks of some width. Whether the weights have that width shows only once
// the networks are there, and a manifest of a kilobyte can ask for more than a machine has.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace anesi {

// While it lives, an operation of this thread throws Error, with this message, where the tensors that this thread made
// since would take more bytes together. Their memory is untouched then.
class AllocationLimit {
 public:
  AllocationLimit(std::int64_t bytes, std::string message);
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

 private:
  c10::DebugInfoGuard guard_;
};

}  // namespace anesi
