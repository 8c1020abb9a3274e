// Random numbers that a seed decides.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <cstdint>

namespace anesi {

inline at::Generator seeded(std::uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

// The seed that one draw of the generator gives. Safe to call from several threads.
std::uint64_t draw_seed(at::Generator generator);

// While it lives, torch's own generator, which fresh modules take their weights from, draws from a seed; then it goes
// on where it was.
class SeededWeights {
 public:
  explicit SeededWeights(std::uint64_t seed) { generator_.set_current_seed(seed); }
  ~SeededWeights() { generator_.set_state(before_); }
  SeededWeights(const SeededWeights&) = delete;
  SeededWeights& operator=(const SeededWeights&) = delete;

 private:
  at::Generator generator_ = at::detail::getDefaultCPUGenerator();
  torch::Tensor before_ = generator_.get_state();
};

}  // namespace anesi
