#include "anesi/tensors/one_thread.h"

#include <dlfcn.h>

namespace anesi {
namespace {

// Of the OpenMP runtime that libtorch brings; null where it has none. Both are about the thread that calls them, and
// cost next to nothing, where torch::set_num_threads() empties caches.
int most_threads() {
  static const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return ask != nullptr ? ask() : 1;
}

void use_threads(int count) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(count);
}

}  // namespace

OneThread::OneThread(bool alone) {
  if (!alone || most_threads() == 1) return;
  before_ = most_threads();
  use_threads(1);
}

OneThread::~OneThread() {
  if (before_ > 0) use_threads(before_);
}

}  // namespace anesi
