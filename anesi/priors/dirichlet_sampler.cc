#include "anesi/priors/dirichlet_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized_math.h"
#include "anesi/priors/prior.h"

namespace anesi {
namespace {

constexpr std::int64_t kSamplesPerTask = 32;

// xoshiro256++ of Blackman and Vigna, seeded by splitmix64 as they advise.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : counter_(mix(seed) + stream) {
    for (auto& word : words_) word = mix(counter_ += kGolden);
  }

  std::uint64_t bits() {
    const auto result = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const auto shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  // In (0, 1), never either end.
  double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

  // Marsaglia's polar method, which makes two at a time.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, square;
    do {
      const auto word = bits();
      x = static_cast<double>(static_cast<std::int32_t>(word >> 32)) * 0x1p-31;
      y = static_cast<double>(static_cast<std::int32_t>(word)) * 0x1p-31;
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double scale = std::sqrt(-2.0 * vectorized::logarithm(square) / square);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t counter_;
  std::uint64_t words_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

// The concentrations without padding, and what Marsaglia and Tsang's method needs of each.
struct Concentrations {
  std::int64_t width = 0;             // of the padded rows
  std::vector<std::int64_t> domains;  // of each variable
  std::vector<double> inverse;        // 1 / alpha
  std::vector<double> scale;          // d = alpha + 1 - 1/3
  std::vector<double> spread;         // c = 1 / sqrt(9 d)
};

Concentrations read(const torch::Tensor& concentration) {
  if (concentration.dim() != 2) throw Error("dirichlet sampler: concentrations must be [variables, domain]");
  const auto padded = concentration.detach().to(torch::kCPU, torch::kDouble).contiguous();
  Concentrations result;
  result.width = padded.size(1);
  const double* alpha = padded.const_data_ptr<double>();
  for (std::int64_t variable = 0; variable < padded.size(0); ++variable, alpha += result.width) {
    std::int64_t domain = 0;
    while (domain < result.width && alpha[domain] != 0.0) ++domain;
    const bool fine = std::all_of(alpha, alpha + domain, [](double a) { return a > 0 && std::isfinite(a); }) &&
                      std::all_of(alpha + domain, alpha + result.width, [](double a) { return a == 0; });
    if (domain == 0 || !fine) {
      throw Error(
          fmt::format("dirichlet sampler: the concentrations of variable {} must be positive, then 0 past its "
                      "domain",
                      variable));
    }
    result.domains.push_back(domain);
    for (std::int64_t k = 0; k < domain; ++k) {
      const double d = alpha[k] + 1.0 - 1.0 / 3.0;
      result.inverse.push_back(1.0 / std::max(alpha[k], 1e-300));  // so that ln(u) / alpha stays finite
      result.scale.push_back(d);
      result.spread.push_back(1.0 / std::sqrt(9.0 * d));
    }
  }
  return result;
}

// A Gamma(alpha + 1) variate.
double gamma_variate(double scale, double spread, RandomStream& random) {
  while (true) {
    const double x = random.normal();
    const double root = 1.0 + spread * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double u = random.uniform();
    const double square = x * x;
    if (u < 1.0 - 0.0331 * square * square) return scale * v;
    if (std::log(u) < 0.5 * square + scale * (1.0 - v + std::log(v))) return scale * v;
  }
}

// gammas becomes the logarithms of Gamma(alpha) variates.
ANESI_VECTORIZED void to_log_variates(double* gammas, const double* uniforms, const double* inverse,
                                      std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    gammas[i] = vectorized::logarithm(gammas[i]) + vectorized::logarithm(uniforms[i]) * inverse[i];
  }
}

ANESI_VECTORIZED void exponential_of_minus_each(double* values, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) values[i] = vectorized::exponential_of_minus(values[i]);
}

// Writes one belief to out, [variables, width]; buffers are of the size of the space's values.
void sample_belief(const Concentrations& concentrations, RandomStream& random, std::vector<double>& variates,
                   std::vector<double>& uniforms, float* out) {
  for (std::size_t i = 0; i < variates.size(); ++i) {
    variates[i] = gamma_variate(concentrations.scale[i], concentrations.spread[i], random);
    uniforms[i] = random.uniform();
  }
  to_log_variates(variates.data(), uniforms.data(), concentrations.inverse.data(), variates.size());
  double* own = variates.data();
  for (const auto domain : concentrations.domains) {
    const double largest = *std::max_element(own, own + domain);
    for (std::int64_t k = 0; k < domain; ++k) own[k] = largest - own[k];
    own += domain;
  }
  exponential_of_minus_each(variates.data(), variates.size());
  own = variates.data();
  for (const auto domain : concentrations.domains) {
    double total = 0;
    for (std::int64_t k = 0; k < domain; ++k) total += own[k];
    const double inverse = 1.0 / total;
    for (std::int64_t k = 0; k < domain; ++k) out[k] = static_cast<float>(own[k] * inverse);
    own += domain;
    out += concentrations.width;
  }
}

}  // namespace

torch::Tensor sample_dirichlet(const torch::Tensor& concentration, std::int64_t count, at::Generator generator) {
  const auto concentrations = read(concentration);
  if (count < 0) throw Error(fmt::format("dirichlet sampler: {} samples asked for", count));
  const auto seed = draw_seed(std::move(generator));
  auto beliefs = torch::zeros({count, concentration.size(0), concentration.size(1)}, torch::kFloat);
  float* out = beliefs.mutable_data_ptr<float>();
  const auto size = concentration.numel();
  parallel_for(count, kSamplesPerTask, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> variates(concentrations.inverse.size()), uniforms(concentrations.inverse.size());
    for (std::int64_t sample = begin; sample < end; ++sample) {
      RandomStream random(seed, static_cast<std::uint64_t>(sample));
      sample_belief(concentrations, random, variates, uniforms, out + sample * size);
    }
  });
  return beliefs;
}

}  // namespace anesi
