#include "anesi/perception/scripted.h"

#include <fmt/format.h>
#include <torch/script.h>

#include <limits>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

class ScriptedPerception final : public Perception {
 public:
  ScriptedPerception(torch::jit::Module script, const Space& worlds)
      : script_(std::move(script)), inside_(uniform_beliefs(1, worlds) > 0) {
    script_.eval();
  }

  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto logits = script_.forward({inputs}).toTensor();
    return logits.masked_fill(inside_.logical_not(), -std::numeric_limits<double>::infinity()).softmax(2);
  }

 private:
  torch::jit::Module script_;
  torch::Tensor inside_;  // bool [1, variables, largest domain]: within a variable's domain
};

}  // namespace

std::shared_ptr<Perception> load_scripted_perception(const std::filesystem::path& file, const Space& worlds) {
  const InputFile readable(file, kLargestArrays);  // whose refusals are clearer than torch's
  try {
    return std::make_shared<ScriptedPerception>(torch::jit::load(file.string()), worlds);
  } catch (const c10::Error&) {
    throw Error(fmt::format("{}: not a TorchScript module, or damaged", file.string()));
  }
}

}  // namespace anesi
