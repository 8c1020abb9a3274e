#include "anesi/kernels/dirichlet_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized_math.h"

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

}  // namespace

DirichletSampler::DirichletSampler(Rows<const double> concentration) : width_(concentration.width()) {
  for (std::int64_t variable = 0; variable < concentration.size(); ++variable) {
    const auto all = concentration[variable];
    const auto past = std::ranges::find(all, 0.0);
    const std::span own(all.begin(), past);
    const bool fine = std::ranges::all_of(own, [](double a) { return a > 0 && std::isfinite(a); }) &&
                      std::all_of(past, all.end(), [](double a) { return a == 0; });
    if (own.empty() || !fine) {
      throw Error(
          fmt::format("dirichlet sampler: the concentrations of variable {} must be positive, then 0 past its "
                      "domain",
                      variable));
    }
    domains_.push_back(own.size());
    for (const double alpha : own) {
      const double d = alpha + 1.0 - 1.0 / 3.0;
      inverse_.push_back(1.0 / std::max(alpha, 1e-300));  // so that ln(u) / alpha stays finite
      scale_.push_back(d);
      spread_.push_back(1.0 / std::sqrt(9.0 * d));
    }
  }
}

void DirichletSampler::draw(std::uint64_t seed, Rows<float> beliefs) const {
  parallel_for(beliefs.size(), kSamplesPerTask, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> variates(inverse_.size()), uniforms(inverse_.size());
    for (std::int64_t sample = begin; sample < end; ++sample) {
      RandomStream random(seed, static_cast<std::uint64_t>(sample));
      for (std::size_t i = 0; i < variates.size(); ++i) {
        variates[i] = gamma_variate(scale_[i], spread_[i], random);
        uniforms[i] = random.uniform();
      }
      write_belief(variates, uniforms, beliefs[sample]);
    }
  });
}

void DirichletSampler::write_belief(std::span<double> variates, std::span<const double> uniforms,
                                    std::span<float> belief) const {
  to_log_variates(variates.data(), uniforms.data(), inverse_.data(), variates.size());
  double* own = variates.data();
  for (const auto domain : domains_) {
    const double largest = *std::max_element(own, own + domain);
    for (std::size_t k = 0; k < domain; ++k) own[k] = largest - own[k];
    own += domain;
  }
  exponential_of_minus_each(variates.data(), variates.size());
  own = variates.data();
  float* out = belief.data();
  for (const auto domain : domains_) {
    double total = 0;
    for (std::size_t k = 0; k < domain; ++k) total += own[k];
    const double inverse = 1.0 / total;
    for (std::size_t k = 0; k < domain; ++k) out[k] = static_cast<float>(own[k] * inverse);
    std::fill(out + domain, out + width_, 0.0F);
    own += domain;
    out += width_;
  }
}

}  // namespace anesi
