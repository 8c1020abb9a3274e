#include "anesi/priors/dirichlet_sampler.h"

#include <fmt/format.h>

#include <utility>

#include "anesi/core/error.h"
#include "anesi/kernels/dirichlet_sampler.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

torch::Tensor sample_dirichlet(const torch::Tensor& concentration, std::int64_t count, at::Generator generator) {
  if (concentration.dim() != 2) throw Error("dirichlet sampler: concentrations must be [variables, domain]");
  const auto padded = concentration.detach().to(torch::kCPU, torch::kDouble).contiguous();
  const DirichletSampler sampler({padded.const_data_ptr<double>(), padded.size(0), padded.size(1)});
  if (count < 0) throw Error(fmt::format("dirichlet sampler: {} samples asked for", count));
  const auto seed = draw_seed(std::move(generator));
  auto beliefs = torch::empty({count, padded.size(0), padded.size(1)}, torch::kFloat);
  sampler.draw(seed, {beliefs.mutable_data_ptr<float>(), count, padded.numel()});
  return beliefs;
}

}  // namespace anesi
