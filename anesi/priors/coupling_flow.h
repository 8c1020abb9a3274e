// A normalizing flow: an invertible map between data and a standard normal, whose density is known.
//
// Affine couplings (RealNVP; Dinh et al. 2017, "Density estimation using Real NVP"): a layer leaves half of the numbers
// as they are, and shifts and scales each of the others by what a small network says of that half. Which half is drawn
// for each layer from a fixed seed. Scales stay between exp(-2) and exp(2) a layer, so that neither direction
// overflows. A fresh flow is the identity; a flow of one number has nothing to couple and stays that.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace anesi {

class CouplingFlow final : public torch::nn::Module {
 public:
  // Weights are drawn from torch's own generator.
  CouplingFlow(std::int64_t size, std::int64_t layers, std::int64_t width);

  struct Normal {
    torch::Tensor points;   // [batch, size]
    torch::Tensor log_det;  // [batch]: by how much the map stretches space there
  };
  // From data [batch, size] to the normal.
  Normal to_normal(const torch::Tensor& data);
  // And back. Without gradients.
  torch::Tensor from_normal(const torch::Tensor& points);

  // log of the density at data, [batch].
  torch::Tensor log_density(const torch::Tensor& data);

 private:
  struct Coupling {
    torch::Tensor kept, changed;  // int64: which numbers
    torch::nn::Sequential network = nullptr;

    struct Change {
      torch::Tensor log_scale, shift;  // [batch, changed]
    };
    Change change(const torch::Tensor& points);
  };

  std::vector<Coupling> couplings_;
};

}  // namespace anesi
