// Reparameterisation: z = mean + deviation * noise, so that g's own derivative carries the gradient. For normals and a
// g that has a derivative everywhere: at a jump it is silently wrong.
#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/estimate/estimator.h"

namespace anesi {
namespace {

struct ReparameterisedOptions {
  std::int64_t samples = 4;
  double difference = 0;
  void describe(OptionTable& table) {
    table.add("samples", samples, {1, 1000000}, "draws of z for each example");
    table.add("difference", difference, {0, 1000},
              "step of central differences, which ask g twice more for each normal; 0: by g's own gradient");
  }
};

class Reparameterised final : public Estimator {
 public:
  Reparameterised(const EstimatorParts& parts, ReparameterisedOptions options) : Estimator(parts), options_(options) {
    require_no_categoricals("reparameterised");
  }

 protected:
  torch::Tensor estimate(const Parameters& parameters) override {
    const auto many = repeated(parameters, options_.samples);
    const auto noise = torch::randn(many.mean.sizes(), generator(), torch::kFloat64);
    const auto real = many.mean + many.deviation * noise;
    const auto discrete = torch::zeros({real.size(0), 0}, torch::kInt64);
    const auto outcomes = options_.difference > 0 ? by_differences({discrete, real}) : by_gradient({discrete, real});
    return outcomes.view({parameters.batch(), options_.samples, -1}).mean(1);
  }

 private:
  torch::Tensor by_gradient(const Draws& draws) {
    // g sees reals that want gradients even where nobody asks for one, so that a g without any is found out at once.
    const torch::AutoGradMode gradients(true);
    const auto real = draws.real.requires_grad() ? draws.real : draws.real.detach().requires_grad_(true);
    const auto outcomes = outcomes_of({draws.discrete, real});
    if (!outcomes.requires_grad()) {
      throw UsageError(
          "reparameterised: g gives no gradient by the reals; write it with torch operations, or set difference=1e-3");
    }
    return outcomes;
  }

  torch::Tensor by_differences(const Draws& draws) {
    const auto at = draws.real.detach();
    const auto value = outcomes_of({draws.discrete, at}).detach();
    auto result = value;
    for (std::int64_t normal = 0; normal < at.size(1); ++normal) {
      auto step = torch::zeros_like(at);
      step.select(1, normal).fill_(options_.difference);
      const auto above = outcomes_of({draws.discrete, at + step}), below = outcomes_of({draws.discrete, at - step});
      const auto slope = (above - below).detach() / (2 * options_.difference);
      result = result + slope * (draws.real - at).select(1, normal).unsqueeze(1);
    }
    return result;
  }

  ReparameterisedOptions options_;
};

ANESI_ESTIMATOR("reparameterised", "through g's own derivative, for normals and a smooth g", ReparameterisedOptions,
                [](const ReparameterisedOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<Reparameterised>(parts, options);
                });

}  // namespace
}  // namespace anesi
