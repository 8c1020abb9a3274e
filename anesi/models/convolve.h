// A convolution that does not work on what lies around small images.
//
// The last stages of a ResNet18 on a map of 12x12 see a single pixel, which eight of the nine places of a kernel miss;
// libtorch multiplies by the zeros there. Here an image of few pixels is one product of matrices, without them.
#pragma once

#include <torch/torch.h>

namespace anesi {

// What `convolution` makes of images [n, channels, height, width]. Its kernel is a square with as many zeros around the
// image as reach it on each side, its stride the same both ways, and it has no bias. Throws std::invalid_argument for
// another.
torch::Tensor convolve(torch::nn::Conv2d& convolution, const torch::Tensor& images);

}  // namespace anesi
