// A few linear layers with ReLUs between them, and their gradient written out.
//
// Autograd makes new memory for each operation's result and its gradient, and casts each of them where precision is
// reduced. For a small network on very many rows that costs more than the matrix products. Here activations stay in the
// precision of the products, ReLUs and their gradients are taken in place, and nothing else is kept.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace anesi {

// What the last layer gives for inputs [rows, inputs of the first layer]: [its outputs, rows], of the inputs' type.
// (The outputs stand in rows because there are few of them: a softmax over them then runs along the many.) Products are
// in bfloat16 under autocast. Differentiable once, in the inputs and in the layers' weights.
torch::Tensor relu_network(const torch::Tensor& inputs, const std::vector<torch::nn::Linear>& layers);

}  // namespace anesi
