// IndeCateR (De Smet et al., 2023): REINFORCE for independent categoricals, Rao-Blackwellised.
//
// The derivative by P_i(v) is E[g(z with z_i = v)], the mean over the others: it is asked for each i and v. Unbiased,
// of low variance, at 1 + sum (domain - 1) calls of g for each draw.
#include "anesi/estimate/estimator.h"
#include "anesi/estimate/one_changed.h"

namespace anesi {
namespace {

struct IndecaterOptions {
  std::int64_t samples = 1;
  void describe(OptionTable& table) {
    table.add("samples", samples, {1, 1000000},
              "draws of z for each example, each asked about with one variable changed");
  }
};

class Indecater final : public Estimator {
 public:
  Indecater(const EstimatorParts& parts, std::int64_t samples) : Estimator(parts), samples_(samples) {
    require_no_normals("indecater");
  }

 protected:
  torch::Tensor estimate(const Parameters& parameters) override {
    const auto& space = sources().categoricals;
    const auto draws = draw(parameters, samples_, generator());
    const auto outcomes = (*this).outcomes(draws, space);  // [rows, variables, domain, outcomes]
    const auto count = outcomes.size(3);
    const auto derivative = outcomes.view({parameters.batch(), samples_, space.variables(), -1, count}).mean(1);
    const auto surrogate = (parameters.beliefs.unsqueeze(3) * derivative).sum({1, 2});
    const auto own = outcomes.gather(2, draws.discrete.view({-1, space.variables(), 1, 1}).expand({-1, -1, 1, count}));
    const auto value = own.select(1, 0).view({parameters.batch(), samples_, count}).mean(1);
    return surrogate + (value - surrogate.detach());
  }

 private:
  torch::Tensor outcomes(const Draws& draws, const Space& space) {
    return outcomes_with_one_changed(draws, space, outcomes_count(), [this](const Draws& z) { return outcomes_of(z); });
  }

  std::int64_t samples_;
};

ANESI_ESTIMATOR("indecater", "IndeCateR: REINFORCE for categoricals, each variable summed over", IndecaterOptions,
                [](const IndecaterOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<Indecater>(parts, options.samples);
                });

}  // namespace
}  // namespace anesi
