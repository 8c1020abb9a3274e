// The score function: E[g(z)] has the gradient E[g(z) grad log p(z|P)], for any g and any z. Unbiased.
#include "anesi/estimate/estimator.h"

namespace anesi {
namespace {

struct ReinforceOptions {
  std::int64_t samples = 4;
  void describe(OptionTable& table) { table.add("samples", samples, {1, 1000000}, "draws of z for each example"); }
};

struct LeaveOneOutOptions {
  std::int64_t samples = 4;
  void describe(OptionTable& table) { table.add("samples", samples, {2, 1000000}, "draws of z for each example"); }
};

// REINFORCE (Williams, 1992); with `leave_one_out`, the mean of an example's other outcomes is the baseline of each
// (Kool et al., 2019).
class ScoreFunction final : public Estimator {
 public:
  ScoreFunction(const EstimatorParts& parts, std::int64_t samples, bool leave_one_out)
      : Estimator(parts), samples_(samples), leave_one_out_(leave_one_out) {}

 protected:
  torch::Tensor estimate(const Parameters& parameters) override {
    const auto draws = draw(parameters, samples_, generator());
    const auto outcomes = outcomes_of(draws).detach().view({parameters.batch(), samples_, -1});
    auto weights = outcomes;
    if (leave_one_out_) {
      const auto others = (outcomes.sum(1, /*keepdim=*/true) - outcomes) / static_cast<double>(samples_ - 1);
      weights = outcomes - others;
    }
    const auto log_prob = draw_log_prob(repeated(parameters, samples_), draws).view({parameters.batch(), samples_, 1});
    const auto surrogate = (weights * log_prob).mean(1);
    return surrogate + (outcomes.mean(1) - surrogate.detach());
  }

 private:
  std::int64_t samples_;
  bool leave_one_out_;
};

ANESI_ESTIMATOR("reinforce", "the score function: unbiased, for any z, of high variance", ReinforceOptions,
                [](const ReinforceOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<ScoreFunction>(parts, options.samples, /*leave_one_out=*/false);
                });
ANESI_ESTIMATOR("rloo", "the score function with a leave-one-out baseline", LeaveOneOutOptions,
                [](const LeaveOneOutOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<ScoreFunction>(parts, options.samples, /*leave_one_out=*/true);
                });

}  // namespace
}  // namespace anesi
