// A prior for maps: a few beliefs, the palette, laid out over a grid in smooth blobs.
//
// Perception looks at one cell at a time with one network, so cells that look alike get one belief, and cells that are
// neighbours look alike. Independent beliefs, cell by cell, never look like that, and a q that learned from them reads
// a doubtful map as a wiggling path. Here a map has two to `entries` beliefs, and what is uncertain about an entry is
// one question: its value is drawn once a map (tied worlds). Concentrations are mixed, from near certainty to near
// ignorance, and a share of maps is certain.
//
// Told what perception emits, the palette takes most of its beliefs from there, sharpened and flattened at random
// (Algorithm 2 for a prior that is not a Dirichlet).
#pragma once

#include <torch/torch.h>

#include "anesi/core/space.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct PaletteOptions {
  std::int64_t entries = 7, remembered = 400;
  double certain = 0.4, least = 0.05, most = 3, jitter = 0.2, perceived = 0.85;

  void describe(OptionTable& table) {
    table.add("entries", entries, {2, 1000}, "beliefs that a map has at most");
    table.add("certain", certain, {0, 1}, "share of maps whose beliefs are certain");
    table.add("least", least, {1e-3, 1e3}, "smallest concentration of a belief");
    table.add("most", most, {1e-3, 1e3}, "largest concentration of a belief");
    table.add("jitter", jitter, {0, 10}, "by how much cells of an entry differ, at most, in logits");
    table.add("perceived", perceived, {0, 1}, "share of beliefs that perception emitted, once it has");
    table.add("remembered", remembered, {1, 1000000}, "beliefs of single cells that are remembered of it");
  }
};

class PalettePrior final : public BeliefPrior {
 public:
  // The space of a square grid's cells, all of one domain; throws UsageError where it is not.
  PalettePrior(const Space& worlds, PaletteOptions options);

  void observe(const torch::Tensor& beliefs) override;
  torch::Tensor sample(std::int64_t count, at::Generator generator) override {
    return sample_with_worlds(count, std::move(generator)).beliefs;
  }
  SampledWorlds sample_with_worlds(std::int64_t count, at::Generator generator) override;

  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  std::int64_t side_, domain_;
  PaletteOptions options_;
  torch::Tensor perceived_;  // [up to remembered, domain]: beliefs of single cells
};

}  // namespace anesi
