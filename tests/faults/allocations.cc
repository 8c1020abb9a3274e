// Allocations that fail. operator new and libtorch's tensors come here too.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "plan.h"

namespace {

bool allocation_fails(std::size_t size) {
  using namespace faults;
  if (!in_main || size < static_cast<std::size_t>(plan().large) || ++allocations != plan().allocation) return false;
  std::array<char, 100> line{};
  tell(line.data(), std::snprintf(line.data(), line.size(), "0 allocation %zu\n", size));
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return allocation_fails(size) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return allocation_fails(count * size) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) { return allocation_fails(size) ? nullptr : __libc_realloc(old, size); }
void* memalign(std::size_t alignment, std::size_t size) {
  return allocation_fails(size) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  void* const made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *result = made;
  return 0;
}

}  // extern "C"
