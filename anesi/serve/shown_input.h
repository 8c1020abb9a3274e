// Inputs as the interface tells them: images as bytes, or numbers.
#pragma once

#include <torch/torch.h>

#include <nlohmann/json.hpp>
#include <string>

#include "anesi/serve/question.h"

namespace anesi::serve {

// What the inputs of a run look like, from one of them.
struct InputShape {
  bool images = false;
  std::int64_t parts = 0;                            // images of an input
  std::int64_t channels = 0, height = 0, width = 0;  // of each
  std::int64_t numbers = 0;                          // where they are no images

  std::int64_t bytes() const { return channels * height * width; }
};

// Of an input [1, …]: images are [1, parts, height, width] or [1, parts, channels, height, width], floats from -1 to 1.
InputShape shape_of(const torch::Tensor& input);

// The parts of images [parts, …] as bytes in base64.
nlohmann::ordered_json parts_json(const torch::Tensor& images);
// All numbers of an input, one after another.
nlohmann::ordered_json numbers_json(const torch::Tensor& input);

// The input [1, …] with what the question changes. Throws Refusal (400) where it has no such part or number, or a part
// has another size.
torch::Tensor changed_input(const torch::Tensor& input, const InputQuestion& question);

}  // namespace anesi::serve
