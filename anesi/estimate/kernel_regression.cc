#include "anesi/estimate/kernel_regression.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/estimate/outcome_model.h"

namespace anesi {
namespace {

constexpr double kMoreSeen = 1.5;     // the kernel's shape is chosen anew when so many times as much was seen
constexpr double kLeastNoise = 1e-8;  // of a kernel that is 1 at most
constexpr int kSweeps = 2;            // over the numbers that are chosen
constexpr double kStep = 4;           // by which they are multiplied or divided
constexpr double kLeastWeight = 1e-6;

std::string bytes_of(const Draws& draws, std::int64_t row) {
  const auto variables = draws.discrete.size(1), normals = draws.real.size(1);
  std::string bytes(as_size(variables) * sizeof(std::int64_t) + as_size(normals) * sizeof(double), '\0');
  std::copy_n(reinterpret_cast<const char*>(draws.discrete.const_data_ptr<std::int64_t>() + row * variables),
              as_size(variables) * sizeof(std::int64_t), bytes.begin());
  std::copy_n(reinterpret_cast<const char*>(draws.real.const_data_ptr<double>() + row * normals),
              as_size(normals) * sizeof(double), bytes.begin() + static_cast<std::ptrdiff_t>(as_size(variables) * 8));
  return bytes;
}

// log of how likely the outcomes are (up to a constant), each column by itself with the amplitude that suits it best.
double log_likelihood(const torch::Tensor& kernel, const torch::Tensor& outcomes, const torch::Tensor& noise) {
  const auto [factor, failed] = torch::linalg_cholesky_ex(kernel + torch::diag(noise));
  if (failed.item<int>() != 0) return -std::numeric_limits<double>::infinity();
  const auto whitened = torch::linalg_solve_triangular(factor, outcomes, /*upper=*/false);
  const auto rows = static_cast<double>(outcomes.size(0)), columns = static_cast<double>(outcomes.size(1));
  const auto fit = (whitened.square().mean(0) + 1e-300).log().sum().item<double>();
  return -0.5 * rows * fit - columns * factor.diagonal().log().sum().item<double>();
}

// Every order has half the share of the one before it, those past `last` next to nothing.
std::vector<double> weights_up_to(std::int64_t last, std::int64_t orders) {
  std::vector<double> weights;
  for (std::int64_t order = 0; order < orders; ++order) {
    weights.push_back(order <= last ? std::pow(0.5, static_cast<double>(order)) : kLeastWeight);
  }
  return weights;
}

}  // namespace

KernelRegression::KernelRegression(Sources sources, RegressionOptions options)
    : sources_(std::move(sources)), options_(options), kernel_(sources_, options.orders) {
  shape_.weights = weights_up_to(kernel_.orders() - 1, kernel_.orders());
  seen_ = {torch::zeros({0, sources_.categoricals.variables()}, torch::kInt64),
           torch::zeros({0, sources_.normals}, torch::kFloat64)};
}

Parameters KernelRegression::certain(const Draws& draws) const { return certain_of(draws, sources_); }

void KernelRegression::keep_new(const Draws& draws, const torch::Tensor& outcomes) {
  std::vector<std::int64_t> rows;
  const Draws whole{draws.discrete.contiguous(), draws.real.contiguous()};
  for (std::int64_t row = 0; row < whole.rows(); ++row) {
    const auto [found, is_new] = places_.try_emplace(bytes_of(whole, row), static_cast<std::int64_t>(places_.size()));
    const auto place = found->second;
    if (is_new) {
      rows.push_back(row);
      outcomes_ = torch::cat({outcomes_, outcomes.slice(0, row, row + 1)});
      counts_ = torch::cat({counts_, torch::ones({1}, torch::kFloat64)});
    } else {
      counts_[place] += 1;
      outcomes_[place] += (outcomes[row] - outcomes_[place]) / counts_[place];
    }
  }
  const auto chosen = torch::tensor(rows, torch::kInt64);
  seen_ = joined(seen_, {whole.discrete.index_select(0, chosen), whole.real.index_select(0, chosen)});
}

void KernelRegression::forget() {
  const auto keep = options_.memory - options_.memory / 4, all = seen_.rows();
  seen_ = {seen_.discrete.slice(0, all - keep).clone(), seen_.real.slice(0, all - keep).clone()};
  outcomes_ = outcomes_.slice(0, all - keep).clone();
  counts_ = counts_.slice(0, all - keep).clone();
  places_.clear();
  for (std::int64_t row = 0; row < keep; ++row) places_[bytes_of(seen_, row)] = row;
}

void KernelRegression::add(const Draws& draws, const torch::Tensor& outcomes) {
  const torch::NoGradGuard no_gradients;
  if (!outcomes_.defined()) {
    outcomes_ = torch::zeros({0, outcomes.size(1)}, torch::kFloat64);
    counts_ = torch::zeros({0}, torch::kFloat64);
  }
  const auto known = seen_.rows();
  keep_new(draws, outcomes);
  const bool full = seen_.rows() > options_.memory;
  if (full) forget();
  if (static_cast<double>(seen_.rows()) >= kMoreSeen * static_cast<double>(seen_when_chosen_)) {
    choose_shape();
    factorise();
  } else if (full) {
    factorise();
  } else if (seen_.rows() > known) {
    extend(known);
  }
  weights_ = weights_of(outcomes_);
}

// Begins at the likeliest of what it has and of shapes up to some order, for a high order looks much like noise and
// neither gives way to the other by itself. Then goes over weights, length and noise in turn, each as far up or down as
// the likelihood grows.
void KernelRegression::choose_shape() {
  seen_when_chosen_ = seen_.rows();
  const auto rows = std::min(seen_.rows(), options_.chosen_on);
  if (rows < 2) return;
  const auto begin = seen_.rows() - rows;
  const auto draws = seen_.slice(begin, seen_.rows());
  const auto some = outcomes_.slice(0, begin);
  const auto varying = some.std(0) > 0;
  if (!varying.any().item<bool>()) return;
  const auto centred = (some - outcomes_.mean(0)).index_select(1, varying.nonzero().view(-1));
  const auto targets = centred / centred.square().mean(0).sqrt();
  const auto counts = counts_.slice(0, begin);
  const auto among = certain(draws);
  auto sums = kernel_.of_orders(among, draws, shape_.length);
  const auto likelihood = [&](const KernelShape& shape, double noise, const std::vector<torch::Tensor>& parts) {
    auto whole = torch::zeros_like(parts[0]);
    for (std::size_t order = 0; order < parts.size(); ++order) whole.add_(parts[order], shape.weights[order]);
    return log_likelihood(whole, targets, noise / counts);
  };
  auto best = likelihood(shape_, noise_, sums);
  for (std::int64_t last = 1; last < kernel_.orders(); ++last) {
    const KernelShape shape{weights_up_to(last, kernel_.orders()), shape_.length};
    for (const double noise : {1e-6, 1e-2}) {
      if (const auto found = likelihood(shape, noise, sums); found > best) {
        best = found;
        shape_ = shape;
        noise_ = noise;
      }
    }
  }
  const auto try_out = [&](double& number, double least, double most, const auto& refresh) {
    for (const double factor : {kStep, 1 / kStep}) {
      bool moved = false;
      while (number * factor >= least && number * factor <= most) {
        const auto before = number;
        number *= factor;
        auto parts = refresh();
        const auto found = likelihood(shape_, noise_, parts);
        if (found <= best) {
          number = before;
          break;
        }
        best = found;
        sums = std::move(parts);
        moved = true;
      }
      if (moved) break;
    }
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (auto& weight : shape_.weights) try_out(weight, kLeastWeight, 1e6, [&] { return sums; });
    try_out(noise_, kLeastNoise, 1e3, [&] { return sums; });
    if (sources_.normals > 0) {
      try_out(shape_.length, 1e-3, 1e6, [&] { return kernel_.of_orders(among, draws, shape_.length); });
    }
  }
  double sum = 0;
  for (const auto weight : shape_.weights) sum += weight;
  for (auto& weight : shape_.weights) weight /= sum;
  noise_ = std::max(noise_ / sum, kLeastNoise);
}

void KernelRegression::factorise() {
  const auto whole = kernel_(certain(seen_), seen_, shape_) + torch::diag(noise_ / counts_);
  auto noise = noise_;
  while (true) {
    const auto [factor, failed] = torch::linalg_cholesky_ex(whole + torch::diag((noise - noise_) / counts_));
    if (failed.item<int>() == 0) {
      factor_ = factor;
      noise_ = noise;
      return;
    }
    noise *= 10;  // rounding made it indefinite
  }
}

// New rows of the factor; those that are there stay.
void KernelRegression::extend(std::int64_t known) {
  const auto all = seen_.rows();
  const auto fresh = seen_.slice(known, all);
  const auto across = kernel_(certain(fresh), seen_, shape_);  // [fresh, seen]
  const auto below =
      torch::linalg_solve_triangular(factor_, across.slice(1, 0, known).t(), /*upper=*/false).t();  // [fresh, known]
  const auto rest = across.slice(1, known) + torch::diag(noise_ / counts_.slice(0, known)) - below.mm(below.t());
  const auto [corner, failed] = torch::linalg_cholesky_ex(rest);
  if (failed.item<int>() != 0) return factorise();
  auto factor = torch::zeros({all, all}, torch::kFloat64);
  factor.slice(0, 0, known).slice(1, 0, known).copy_(factor_);
  factor.slice(0, known).slice(1, 0, known).copy_(below);
  factor.slice(0, known).slice(1, known).copy_(corner);
  factor_ = factor;
}

NamedTensors KernelRegression::state() const {
  if (empty()) return {};
  return {{"discrete", seen_.discrete},
          {"real", seen_.real},
          {"outcomes", outcomes_},
          {"counts", counts_},
          {"weights", torch::tensor(shape_.weights, torch::kFloat64)},
          {"length", torch::tensor(shape_.length, torch::kFloat64)},
          {"noise", torch::tensor(noise_, torch::kFloat64)},
          {"chosen_at", torch::tensor(seen_when_chosen_, torch::kInt64)}};
}

void KernelRegression::load_state(const NamedTensors& state) {
  if (state.empty()) {
    *this = KernelRegression(sources_, options_);
    return;
  }
  const auto number = [&](const char* name) { return state_tensor(state, name, torch::kFloat64, {}).item<double>(); };
  const auto variables = sources_.categoricals.variables();
  const Draws seen{state_tensor(state, "discrete", torch::kInt64, {-1, variables}),
                   state_tensor(state, "real", torch::kFloat64, {-1, sources_.normals})};
  const auto rows = seen.discrete.size(0);
  const auto outcomes = state_tensor(state, "outcomes", torch::kFloat64, {rows, -1});
  const auto counts = state_tensor(state, "counts", torch::kFloat64, {rows});
  const auto weights = state_tensor(state, "weights", torch::kFloat64, {kernel_.orders()});
  const auto length = number("length"), noise = number("noise");
  const auto chosen_at = state_tensor(state, "chosen_at", torch::kInt64, {}).item<std::int64_t>();
  bool fits = rows > 0 && rows <= options_.memory && seen.real.size(0) == rows && outcomes.size(1) > 0 && length > 0 &&
              noise > 0 && chosen_at >= 0 && (counts >= 1).all().item<bool>() && (weights >= 0).all().item<bool>();
  for (std::int64_t variable = 0; fits && variable < variables; ++variable) {
    const auto values = seen.discrete.select(1, variable);
    const auto domain = sources_.categoricals.domain(variable);
    fits = values.ge(0).logical_and(values < domain).all().item<bool>();
  }
  if (!fits) throw Error("estimator state: what was seen is out of range, or more than is remembered");
  seen_ = seen;
  outcomes_ = outcomes;
  counts_ = counts;
  const auto* const first = weights.const_data_ptr<double>();
  shape_ = {{first, first + weights.numel()}, length};
  noise_ = noise;
  seen_when_chosen_ = chosen_at;
  places_.clear();
  for (std::int64_t row = 0; row < rows; ++row) places_[bytes_of(seen_, row)] = row;
  factorise();
  weights_ = weights_of(outcomes_);
}

torch::Tensor KernelRegression::weights_of(const torch::Tensor& targets) const {
  return torch::cholesky_solve(targets - targets.mean(0), factor_, /*upper=*/false);
}

torch::Tensor KernelRegression::kernel(const Parameters& parameters) const {
  return kernel_(parameters, seen_, shape_);
}

torch::Tensor KernelRegression::mean(const Parameters& parameters) const {
  return outcomes_.mean(0) + kernel(parameters).mm(weights_);
}

}  // namespace anesi
