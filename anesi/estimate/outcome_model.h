// Outcome models q(r|P): how the outcomes r = g(z) are distributed where z ~ P (appendix C of the paper).
//
// Several outcomes are independent given P. Models are in 64 bits.
#pragma once

#include <torch/torch.h>

#include <array>
#include <memory>
#include <string_view>

#include "anesi/estimate/draws.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

class OutcomeModel {
 public:
  virtual ~OutcomeModel() = default;

  // E_q[r], [batch, outcomes]. Differentiable in the parameters.
  virtual torch::Tensor mean(const Parameters& parameters) = 0;
  // log q(r|P), [batch]: of outcomes [batch, outcomes].
  virtual torch::Tensor log_prob(const Parameters& parameters, const torch::Tensor& outcomes) = 0;
  // Learns from parameters, a draw of each and what came of it. Returns the mean of -log q(r|P) of these, once learned.
  virtual double learn(const Parameters& parameters, const Draws& draws, const torch::Tensor& outcomes) = 0;
  // Whether E_q[r] is linear in each variable's belief: then its error at P is at most the mean of its errors at z ~ P.
  virtual bool multilinear() const { return false; }
  // Whether it has learned from anything.
  virtual bool has_learned() const = 0;
  // What was learned, and back. Loading throws Error, perhaps half-way, if it is of another model.
  virtual NamedTensors state() const = 0;
  virtual void load_state(const NamedTensors& state) = 0;
};

// A tensor of a state by name, in memory of its own: of this type, shape (-1: any size) and of finite numbers. Throws
// Error, which names it, if it is missing or another.
torch::Tensor state_tensor(const NamedTensors& state, const std::string& name, torch::ScalarType type,
                           torch::IntArrayRef shape);

enum class OutcomeModelKind { kKernel, kNormal, kMixture, kHistogram };
constexpr std::array<std::string_view, 4> names_of(OutcomeModelKind) {
  return {"kernel", "normal", "mixture", "histogram"};
}

struct KernelOptions {
  std::int64_t orders = 4, memory = 2048, bins = 0;

  void describe(OptionTable& table) {
    table.add("orders", orders, {1, 64}, "how many variables act together at most");
    table.add("memory", memory, {8, 20000},
              "different z that are remembered; the time of an update grows with its square");
    table.add("bins", bins, {0, 1000}, "0: q is normal; else a histogram of so many bins, multilinear too");
  }
};

struct NetworkOptions {
  std::int64_t width = 64, layers = 2, components = 4, bins = 16, memory = 4096, updates = 4, batch = 64;
  double lr = 0.003;

  void describe(OptionTable& table) {
    table.add("width", width, {1, 10000}, "of hidden layers");
    table.add("layers", layers, {1, 16}, "hidden layers");
    table.add("components", components, {1, 100}, "of the mixture");
    table.add("bins", bins, {2, 1000}, "of the histogram");
    table.add("memory", memory, {1, 10000000}, "outcomes that are remembered and learned from again");
    table.add("updates", updates, {1, 10000}, "steps of Adam each time it learns");
    table.add("batch", batch, {1, 1000000}, "remembered outcomes in each step");
    table.add("lr", lr, {1e-8, 10}, "learning rate");
  }
};

// A regression that is multilinear in P (kernel_regression.h).
std::unique_ptr<OutcomeModel> make_kernel_model(const Sources& sources, const KernelOptions& options);
// A network of P: a normal, a mixture of normals or a histogram of each outcome. Weights from torch's generator.
std::unique_ptr<OutcomeModel> make_network_model(const Sources& sources, std::int64_t outcomes, OutcomeModelKind kind,
                                                 const NetworkOptions& options, at::Generator generator);

}  // namespace anesi
