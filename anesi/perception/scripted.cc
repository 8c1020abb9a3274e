#include "anesi/perception/scripted.h"

#include <fmt/format.h>
#include <torch/script.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

class ScriptedPerception final : public Perception {
 public:
  explicit ScriptedPerception(torch::jit::Module script) : script_(std::move(script)) { script_.eval(); }

  torch::Tensor forward(const torch::Tensor& inputs) override { return script_.forward({inputs}).toTensor().softmax(2); }

 private:
  torch::jit::Module script_;
};

}  // namespace

std::shared_ptr<Perception> load_scripted_perception(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(fmt::format("{}: there is no such file", file.string()));
  }
  try {
    return std::make_shared<ScriptedPerception>(torch::jit::load(file.string()));
  } catch (const c10::Error&) {
    throw Error(fmt::format("{}: not a TorchScript module, or damaged", file.string()));
  }
}

}  // namespace anesi
