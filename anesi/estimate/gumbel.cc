// Straight-through Gumbel-softmax (Jang et al., 2017): g is asked about a hard draw, and the gradient passes as if the
// draw were the softmax that it was rounded from. Biased.
//
// g knows no soft values, so its derivative by a one-hot value is a difference: g(z with z_i = v) - g(z). That costs as
// many calls as IndeCateR.
#include "anesi/estimate/estimator.h"
#include "anesi/estimate/one_changed.h"

namespace anesi {
namespace {

struct GumbelOptions {
  std::int64_t samples = 1;
  double temperature = 1;
  void describe(OptionTable& table) {
    table.add("samples", samples, {1, 1000000},
              "draws of z for each example, each asked about with one variable changed");
    table.add("temperature", temperature, {1e-3, 100}, "of the softmax; low ones have less bias and more variance");
  }
};

class Gumbel final : public Estimator {
 public:
  Gumbel(const EstimatorParts& parts, GumbelOptions options) : Estimator(parts), options_(options) {
    require_no_normals("gumbel");
  }

 protected:
  torch::Tensor estimate(const Parameters& parameters) override {
    const auto& space = sources().categoricals;
    const auto many = repeated(parameters, options_.samples);
    const auto impossible = many.beliefs.detach().le(0);
    const auto log_beliefs = many.beliefs.masked_fill(impossible, 1).log();
    const auto noise =
        -(-torch::rand(many.beliefs.sizes(), generator(), torch::kFloat64).clamp_min(1e-300).log()).log();
    const auto scores = (log_beliefs + noise).masked_fill(impossible, -std::numeric_limits<double>::infinity());
    const auto soft = (scores / options_.temperature).softmax(2);  // [rows, variables, domain]
    const Draws draws{scores.detach().argmax(2), many.mean};
    const auto changed =
        outcomes_with_one_changed(draws, space, outcomes_count(), [this](const Draws& z) { return outcomes_of(z); });
    const auto place = draws.discrete.view({-1, space.variables(), 1, 1}).expand({-1, -1, 1, outcomes_count()});
    const auto own = changed.gather(2, place);  // [rows, variables, 1, outcomes]
    const auto surrogate = (soft.unsqueeze(3) * (changed - own)).sum({1, 2});
    const auto value = own.select(1, 0).select(1, 0);
    const auto each = [&](const torch::Tensor& rows) {
      return rows.view({parameters.batch(), options_.samples, -1}).mean(1);
    };
    return each(surrogate + (value - surrogate.detach()));
  }

 private:
  GumbelOptions options_;
};

ANESI_ESTIMATOR("gumbel", "straight-through Gumbel-softmax, g's derivatives by changing one variable", GumbelOptions,
                [](const GumbelOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<Gumbel>(parts, options);
                });

}  // namespace
}  // namespace anesi
