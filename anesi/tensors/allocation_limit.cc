#include "anesi/tensors/allocation_limit.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <memory>
#include <utility>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// torch tells a profiler of the thread each piece of memory, after it got it from the system and before it uses it.
class AllocationCounter final : public c10::MemoryReportingInfoBase {
 public:
  AllocationCounter(std::int64_t most, std::string message) : most_(most), message_(std::move(message)) {}

  // torch forgets a piece when this throws, so it is given back here. What is released is told as a negative size.
  void reportMemoryUsage(void* piece, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
    if (!device.is_cpu()) return;
    if (bytes <= 0 || bytes <= most_ - used_) {
      used_ += bytes;
      return;
    }
    c10::free_cpu(piece);
    throw Error(message_);
  }
  // What the system itself refuses is too much as well.
  void reportOutOfMemory(std::int64_t, std::size_t, std::size_t, c10::Device) override { throw Error(message_); }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  std::int64_t used_ = 0, most_;
  std::string message_;
};

}  // namespace

AllocationLimit::AllocationLimit(std::int64_t bytes, std::string message)
    : guard_(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<AllocationCounter>(bytes, std::move(message))) {}

}  // namespace anesi
