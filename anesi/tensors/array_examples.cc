#include "anesi/tensors/array_examples.h"

#include "anesi/tensors/arrays.h"
#include "anesi/tensors/image_examples.h"

namespace anesi {
namespace {

torch::Tensor tensor_or_undefined(const std::optional<Array>& array) {
  return array ? tensor_of(*array) : torch::Tensor();
}

}  // namespace

std::shared_ptr<const Examples> examples_of(const ExampleArrays& arrays) {
  Observations labels(tensor_or_undefined(arrays.outputs), tensor_or_undefined(arrays.holds));
  labels.worlds = tensor_or_undefined(arrays.observed_worlds);
  const auto inputs = tensor_of(arrays.inputs), worlds = tensor_or_undefined(arrays.worlds);
  if (!arrays.index) return tensor_examples(inputs, labels, worlds);
  return std::make_shared<ImageExamples>(inputs, tensor_of(*arrays.index), labels, worlds);
}

Splits examples_of(const SplitArrays& arrays) {
  return {.train = examples_of(arrays.train),
          .validation = arrays.validation ? examples_of(*arrays.validation) : nullptr,
          .test = examples_of(arrays.test),
          .origin = arrays.origin};
}

}  // namespace anesi
