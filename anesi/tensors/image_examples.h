// Examples made of images that several of them may share: example i shows images pool[index[i]].
#pragma once

#include <torch/torch.h>

#include <filesystem>
#include <string>

#include "anesi/tensors/examples.h"

namespace anesi {

class ImageExamples final : public Examples {
 public:
  //   pool   uint8 [images, height, width], or in colour [images, channels, height, width]
  //   index  int64 [examples, images of an example]
  ImageExamples(torch::Tensor pool, torch::Tensor index, Observations labels, torch::Tensor worlds = {})
      : Examples(std::move(labels), std::move(worlds)), pool_(std::move(pool)), index_(std::move(index)) {}

  const torch::Tensor& pool() const { return pool_; }
  const torch::Tensor& index() const { return index_; }

  // Images become floats from -1 to 1, [batch, images of an example, …].
  torch::Tensor inputs(const torch::Tensor& rows) const override;
  torch::Tensor inputs_of(const torch::Tensor& rows, const torch::Tensor& variables) const override;
  std::vector<std::int64_t> fingerprint_of_inputs() const override;

 private:
  torch::Tensor pool_, index_;
};

// Images of bytes as networks take them: floats from -1 to 1.
torch::Tensor as_pixels(const torch::Tensor& images);

// Images of 28x28 from an IDX file of the user's, as one example, [1, images, 28, 28]. Throws UsageError, which says in
// which order they are to stand, where there are not so many of that size.
torch::Tensor read_image_example(const std::filesystem::path& path, std::int64_t images, const std::string& order);

}  // namespace anesi
