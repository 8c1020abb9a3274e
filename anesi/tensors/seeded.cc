#include "anesi/tensors/seeded.h"

namespace anesi {

std::uint64_t draw_seed(at::Generator generator) {
  auto* source = at::get_generator_or_default<at::CPUGeneratorImpl>(generator, at::detail::getDefaultCPUGenerator());
  const std::lock_guard<std::mutex> lock(source->mutex_);
  return source->random64();
}

}  // namespace anesi
