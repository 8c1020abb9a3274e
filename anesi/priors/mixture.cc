#include "anesi/priors/mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "anesi/kernels/dirichlet_objective.h"
#include "anesi/priors/dirichlet_sampler.h"
#include "anesi/priors/priors.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfCentres = 31;
constexpr double kFewestBeliefs = 1;  // that a component has, or it begins anew

}  // namespace

DirichletMixture::DirichletMixture(Space worlds, MixtureOptions options, DirichletFit fit)
    : space_(std::move(worlds)), options_(within_ranges("mixture", options)), fit_(fit), window_(space_, fit.window) {
  check_fit(fit_);
  const auto within = (uniform_beliefs(1, space_).squeeze(0) > 0).to(torch::kFloat64);  // [variables, domain]
  inside_ = within.flatten().nonzero().squeeze(1);
  const auto owner = inside_.div(space_.largest_domain(), "floor");
  variable_ = torch::one_hot(owner, space_.variables()).to(torch::kFloat64);
  weights_ = torch::full({options_.components}, 1.0 / static_cast<double>(options_.components), torch::kFloat64);
  concentration_ = torch::full({options_.components, inside_.size(0)}, fit_.initial, torch::kFloat64);
}

torch::Tensor DirichletMixture::logs_of(const torch::Tensor& beliefs) const {
  const auto rows = beliefs.detach().to(torch::kCPU, torch::kFloat64).flatten(1).index_select(1, inside_);
  return rows.clamp_min(FittedDirichlet::kSmallestBelief).log();
}

torch::Tensor DirichletMixture::log_joint(const torch::Tensor& logs) const {
  const auto normalizer = torch::lgamma(concentration_.mm(variable_)).sum(1) - torch::lgamma(concentration_).sum(1);
  return logs.mm((concentration_ - 1).t()) + normalizer + weights_.log();
}

torch::Tensor DirichletMixture::log_density(const torch::Tensor& beliefs) const {
  return log_joint(logs_of(beliefs)).logsumexp(1);
}

void DirichletMixture::fit() {
  if (window_.size() == 0) return;
  const torch::NoGradGuard no_gradients;
  const auto logs = logs_of(window_.beliefs());
  if (!begun_) maximize(logs, first_responsibilities(logs));
  begun_ = true;
  for (std::int64_t round = 0; round < options_.rounds; ++round) maximize(logs, log_joint(logs).softmax(1));
  const auto [fewest, poorest] = weights_.min(0);
  const bool lonely = fewest.item<double>() * static_cast<double>(window_.size()) < kFewestBeliefs;
  if (lonely && window_.size() > options_.components) begin_anew(poorest.item<std::int64_t>(), logs);
}

torch::Tensor DirichletMixture::first_responsibilities(const torch::Tensor& logs) const {
  const auto generator = seeded(kSeedOfCentres);
  // The next centre is drawn in proportion to the square of the distance from the nearest one so far (k-means++).
  auto nearest = torch::ones({logs.size(0)}, torch::kFloat64);
  std::vector<torch::Tensor> distances;
  for (std::int64_t component = 0; component < options_.components; ++component) {
    const auto chosen = (nearest + 1e-12).multinomial(1, /*replacement=*/true, generator);
    distances.push_back((logs - logs.index_select(0, chosen)).square().sum(1));
    nearest = component == 0 ? distances.back() : nearest.minimum(distances.back());
  }
  return torch::one_hot(torch::stack(distances, 1).argmin(1), options_.components).to(torch::kFloat64);
}

void DirichletMixture::maximize(const torch::Tensor& logs, const torch::Tensor& responsibilities) {
  const auto beliefs = static_cast<double>(logs.size(0));
  const auto masses = responsibilities.sum(0);
  const auto mean_logs = (responsibilities.t().mm(logs) / masses.unsqueeze(1)).contiguous();  // [components, values]
  const double filled = fit_.l2_per_belief ? beliefs / static_cast<double>(window_.capacity()) : 1.0;
  const auto values = static_cast<std::size_t>(logs.size(1));
  for (std::int64_t component = 0; component < options_.components; ++component) {
    const auto mass = masses[component].item<double>();
    if (!(mass > 0)) continue;
    const double* const mean_log = mean_logs.const_data_ptr<double>() + component * logs.size(1);
    const DirichletObjective objective(space_, {mean_log, mean_log + values}, mass, fit_.l2 * filled * mass / beliefs);
    double* const own = concentration_.mutable_data_ptr<double>() + component * logs.size(1);
    objective.minimize({own, values}, fit_.iterations);
  }
  weights_ = masses / beliefs;
}

void DirichletMixture::begin_anew(std::int64_t component, const torch::Tensor& logs) {
  const auto worst = log_joint(logs).logsumexp(1).argmin();
  // Dirichlets whose mode is that belief, no surer than one observation more than none would make them.
  concentration_[component] = 1 + logs[worst.item<std::int64_t>()].exp();
  weights_[component] = kFewestBeliefs / static_cast<double>(logs.size(0));
  weights_ /= weights_.sum();
}

torch::Tensor DirichletMixture::concentrations() const {
  auto padded = torch::zeros({options_.components, space_.variables() * space_.largest_domain()}, torch::kFloat64);
  padded.index_copy_(1, inside_, concentration_);
  return padded.view({options_.components, space_.variables(), space_.largest_domain()});
}

torch::Tensor DirichletMixture::sample(std::int64_t count, at::Generator generator) {
  const auto own = seeded(draw_seed(std::move(generator)));
  auto beliefs = torch::zeros({count, space_.variables(), space_.largest_domain()});
  if (count == 0) return beliefs;
  const auto chosen = weights_.multinomial(count, /*replacement=*/true, own);
  const auto all = concentrations();
  for (std::int64_t component = 0; component < options_.components; ++component) {
    const auto rows = (chosen == component).nonzero().squeeze(1);
    if (rows.size(0) > 0) beliefs.index_copy_(0, rows, sample_dirichlet(all[component], rows.size(0), own));
  }
  return beliefs;
}

NamedTensors DirichletMixture::state() const {
  auto state = window_.state();
  state["weights"] = weights_.clone();
  state["concentration"] = concentration_.clone();
  state["begun"] = torch::tensor(begun_);
  return state;
}

void DirichletMixture::load_state(const NamedTensors& state) {
  const auto weights = saved_tensor(state, "weights", torch::kFloat64, {options_.components});
  const auto concentration =
      saved_tensor(state, "concentration", torch::kFloat64, {options_.components, inside_.size(0)});
  const auto begun = saved_tensor(state, "begun", torch::kBool, {});
  window_.load_state(state);
  weights_ = weights.clone();
  concentration_ = concentration.clone();
  begun_ = begun.item<bool>();
}

namespace {

ANESI_PRIOR("mixture", "a mixture of Dirichlets over all variables together, fitted to what perception emits",
            MixtureOptions,
            [](const MixtureOptions& options, const Space& worlds,
               const PriorOptions& common) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<DirichletMixture>(worlds, options, common.fit);
            });

}  // namespace
}  // namespace anesi
