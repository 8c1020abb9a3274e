#include "anesi/priors/palette.h"

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/priors/dirichlet_sampler.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kFloor = 1e-7;      // the least probability that a logit is taken of
constexpr double kSureness = 0.999;  // of a map that is certain: perception never is altogether
constexpr double kColdest = 0.7, kHottest = 3;
constexpr double kMostMissing = 0.7;  // of the entries beyond the second, the share that a map lacks at most

torch::Tensor uniform(torch::IntArrayRef shape, double low, double high, const at::Generator& generator) {
  return torch::rand(shape, generator) * (high - low) + low;
}

}  // namespace

PalettePrior::PalettePrior(const Space& worlds, PaletteOptions options)
    : side_(std::llround(std::sqrt(static_cast<double>(worlds.variables())))),
      domain_(worlds.largest_domain()),
      options_(options),
      perceived_(torch::empty({0, domain_})) {
  if (side_ * side_ != worlds.variables() || !worlds.all_domains_equal()) {
    throw UsageError("prior.kind=palette: worlds must be the cells of a square grid, all of one domain");
  }
  if (options_.least > options_.most) throw UsageError("palette.least is larger than palette.most");
}

void PalettePrior::observe(const torch::Tensor& beliefs) {
  // Evenly spread over the batch, so that which cells are remembered needs no random numbers.
  const auto cells = beliefs.detach().to(torch::kCPU, torch::kFloat32).reshape({-1, beliefs.size(2)});
  const auto kept = std::min(options_.remembered, cells.size(0));
  perceived_ = cells.index_select(0, (torch::arange(kept) * cells.size(0)).div(kept, "floor"));
}

SampledWorlds PalettePrior::sample_with_worlds(std::int64_t count, at::Generator generator) {
  const auto own = seeded(draw_seed(std::move(generator)));
  const auto entries = options_.entries, cells = side_ * side_;
  // Half of the maps have one concentration, half one for each entry.
  const auto low = std::log(options_.least), high = std::log(options_.most);
  const auto concentrations =
      torch::where(torch::rand({count, 1}, own) < 0.5, uniform({count, 1}, low, high, own).expand({count, entries}),
                   uniform({count, entries}, low, high, own))
          .exp();
  auto palette = sample_dirichlet(concentrations.view({-1, 1}).expand({-1, domain_}).to(torch::kDouble), 1, own)
                     .view({count, entries, domain_});
  if (perceived_.size(0) > 0) {
    const auto drawn = torch::randint(perceived_.size(0), {count * entries}, own, torch::kInt64);
    const auto emitted = perceived_.index_select(0, drawn).view({count, entries, domain_});
    const auto tempered =
        (emitted.clamp_min(kFloor).log() / uniform({count, entries, 1}, kColdest, kHottest, own)).softmax(2);
    palette = torch::where(torch::rand({count, entries, 1}, own) < options_.perceived, tempered, palette);
  }
  palette = palette.clamp_min(kFloor);
  palette = palette / palette.sum(2, /*keepdim=*/true);
  const auto values = sample_worlds(palette, own);  // [count, entries], one of each entry: worlds are tied
  const auto sure =
      torch::one_hot(values, domain_).to(torch::kFloat32) * kSureness + (1 - kSureness) / static_cast<double>(domain_);
  palette = torch::where(torch::rand({count, 1, 1}, own) < options_.certain, sure, palette);

  // Each entry has a smooth field; a cell belongs to the entry that is highest there.
  const auto blur = [](const torch::Tensor& fields) { return torch::avg_pool2d(fields, 3, 1); };
  auto fields = blur(blur(torch::randn({count, entries, side_ + 4, side_ + 4}, own))) +
                0.15 * torch::randn({count, entries, 1, 1}, own);
  auto missing = torch::rand({count, entries}, own) < torch::rand({count, 1}, own) * kMostMissing;
  missing.slice(1, 0, 2) = false;
  fields = fields.masked_fill(missing.view({count, entries, 1, 1}), -INFINITY);
  const auto entry = fields.argmax(1).view({count, cells});
  const auto laid_out = palette.gather(1, entry.unsqueeze(2).expand({-1, -1, domain_}));
  const auto shaken = laid_out.clamp_min(kFloor).log() +
                      options_.jitter * torch::rand({count, 1, 1}, own) * torch::randn({count, cells, domain_}, own);
  return {shaken.softmax(2), values.gather(1, entry)};
}

NamedTensors PalettePrior::state() const { return {{"perceived", perceived_.clone()}}; }

void PalettePrior::load_state(const NamedTensors& state) {
  perceived_ = saved_tensor(state, "perceived", torch::kFloat32, {-1, domain_}).clone();
}

}  // namespace anesi
