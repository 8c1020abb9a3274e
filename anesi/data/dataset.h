// Labelled examples: inputs, the outputs they are labelled with and, for scoring alone, the true worlds.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "anesi/core/observations.h"

namespace anesi {

struct Batch {
  torch::Tensor inputs;  // what perception takes, [batch, …]
  Observations observations;
  torch::Tensor worlds;  // int64 [batch, world variables], kUnset where not known; never used to train
};

// Examples made of images that several of them may share: example i shows images pool[index[i]].
struct Dataset {
  torch::Tensor pool;     // uint8 [images, height, width], or in colour [images, channels, height, width]
  torch::Tensor index;    // int64 [examples, images of an example]
  torch::Tensor outputs;  // int64 [examples, output variables]
  torch::Tensor holds;    // bool [examples]: whether the output is that, or anything but that; undefined: all hold
  torch::Tensor worlds;   // int64 [examples, world variables], kUnset where not known

  std::int64_t size() const { return index.defined() ? index.size(0) : 0; }
  // The examples whose labels say what the output is, not only what it is not; int64.
  torch::Tensor rows_that_hold() const;
  // The examples of these rows, int64 [batch]; images become floats from -1 to 1.
  Batch batch(const torch::Tensor& rows) const;
  Batch batch(std::int64_t begin, std::int64_t end) const;
  // One image each: that of variable variables[i] of example rows[i], [n, 1, (channels,) height, width].
  torch::Tensor variables(const torch::Tensor& rows, const torch::Tensor& variables) const;
};

struct Splits {
  Dataset train, validation, test;  // validation is empty unless asked for or part of the data
  std::string origin;               // where the data come from, for people

  // What a threshold or a choice of settings is to be fitted on: validation data, or training data where there are
  // none.
  const Dataset& held_out() const { return validation.size() > 0 ? validation : train; }
};

// Tells data apart: the number of examples of each split, and what their images and labels add up to, place by place.
std::vector<std::int64_t> fingerprint(const Splits& data);

}  // namespace anesi
