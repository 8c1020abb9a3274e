#include "anesi/exact/logits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized_math.h"

namespace anesi {
namespace {

// Numbers that are worked on at once: they stay in the cache between the steps.
constexpr std::int64_t kNumbersAtOnce = 1 << 18;
// Numbers that make it worth waking another thread.
constexpr std::int64_t kNumbersForThread = 1 << 14;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// e^x for x <= 0, in place of it; 0 below -700.
ANESI_VECTORIZED void exponentials(double* numbers, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t place = 0; place < count; ++place) {
    const double x = numbers[place];
    const double e = vectorized::exponential_of_minus(-x);
    numbers[place] = x < -700 ? 0 : e;
  }
}

ANESI_VECTORIZED void logarithms(double* numbers, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t place = 0; place < count; ++place) numbers[place] = vectorized::logarithm(numbers[place]);
}

// The variables that logits are of, and those that are given.
struct Seen {
  Seen(const Space& worlds, std::int64_t given_variables)
      : given(given_variables), domains(worlds.domains().begin() + given_variables, worlds.domains().end()) {}

  std::int64_t given;
  std::vector<std::int64_t> domains;
};

// Beliefs of a piece of the batch, given variables included, as logarithms and, of those that are seen, as they are.
template <typename Real>
class Softmax {
 public:
  Softmax(const Space& worlds, const LogitRows<Real>& rows)
      : worlds_(worlds), rows_(rows), seen_(worlds, rows.given.width()), width_(worlds.largest_domain()) {}

  std::int64_t row_size() const { return worlds_.variables() * width_; }

  // Of rows from `begin` on, as many as fit into `logs` and `shares`; their numbers in errors count from there.
  void run(std::int64_t begin, GradientRows logs, ValuesOfBeliefs<double> shares) const {
    const auto grain = std::max<std::int64_t>(1, kNumbersForThread / std::max<std::int64_t>(1, row_size()));
    parallel_for(logs.size, grain, [&](std::int64_t first, std::int64_t last) {
      fill(begin + first, logs.slice(first, last), shares.slice(first, last));
    });
  }

 private:
  void fill(std::int64_t begin, GradientRows logs, ValuesOfBeliefs<double> shares) const {
    const auto variables = std::ssize(seen_.domains);
    std::vector<double> sums(as_size(logs.size * variables));
    for (std::int64_t row = 0; row < logs.size; ++row) {
      set_given(begin + row, logs.row(row));
      for (std::int64_t variable = 0; variable < variables; ++variable) {
        const auto domain = seen_.domains[as_size(variable)];
        const auto* const in = &rows_.logits(begin + row, variable, 0);
        auto* const log = &logs(row, seen_.given + variable, 0);
        auto* const share = &shares(row, variable, 0);
        const auto highest = highest_of(in, domain, begin + row, variable);
        for (std::int64_t value = 0; value < domain; ++value) {
          log[value] = share[value] = static_cast<double>(in[value]) - highest;
        }
        for (auto value = domain; value < width_; ++value) log[value] = share[value] = kLogOfZero;
      }
    }
    exponentials(shares.data, shares.size * shares.row_size());
    for (std::int64_t place = 0; place < std::ssize(sums); ++place) {
      const auto* const share = shares.data + place * width_;
      const auto domain = seen_.domains[as_size(place % variables)];
      sums[as_size(place)] = std::accumulate(share, share + domain, 0.0);
    }
    for (std::int64_t place = 0; place < std::ssize(sums); ++place) {
      auto* const share = shares.data + place * width_;
      const double scale = 1 / sums[as_size(place)];
      for (std::int64_t value = 0; value < width_; ++value) share[value] *= scale;
    }
    logarithms(sums.data(), std::ssize(sums));
    for (std::int64_t row = 0; row < logs.size; ++row) {
      for (std::int64_t variable = 0; variable < variables; ++variable) {
        auto* const log = &logs(row, seen_.given + variable, 0);
        const double sum = sums[as_size(row * variables + variable)];
        for (std::int64_t value = 0; value < width_; ++value) log[value] -= sum;
      }
    }
  }

  double highest_of(const Real* in, std::int64_t domain, std::int64_t row, std::int64_t variable) const {
    double highest = kLogOfZero;
    bool good = true;
    for (std::int64_t value = 0; value < domain; ++value) {
      const auto logit = static_cast<double>(in[value]);
      good &= logit < kInfinity;  // and a number
      highest = logit > highest ? logit : highest;
    }
    if (good && highest > kLogOfZero) return highest;
    throw UsageError(fmt::format("logits: example {}, variable {}: not a number or infinite", row, variable));
  }

  void set_given(std::int64_t row, double* logs) const {
    for (std::int64_t variable = 0; variable < seen_.given; ++variable, logs += width_) {
      const auto value = rows_.given[row][as_size(variable)];
      if (value < 0 || value >= worlds_.domain(variable)) {
        throw UsageError(fmt::format("given: example {} has {} at variable {}, which has the values 0 to {}", row,
                                     value, variable, worlds_.domain(variable) - 1));
      }
      std::fill_n(logs, width_, kLogOfZero);
      logs[value] = 0;
    }
  }

  const Space& worlds_;
  const LogitRows<Real>& rows_;
  Seen seen_;
  std::int64_t width_;
};

// From the gradient by log P_i(v) that by the logits: slope_i(v) - P_i(v) times the sum of slope_i.
template <typename Real>
void through_softmax(const Space& worlds, std::int64_t given, LogBeliefRows slopes,
                     const ValuesOfBeliefs<double>& shares, ValuesOfBeliefs<Real> gradient) {
  const auto grain = std::max<std::int64_t>(1, kNumbersForThread / std::max<std::int64_t>(1, slopes.row_size()));
  parallel_for(slopes.size, grain, [&](std::int64_t first, std::int64_t last) {
    for (auto row = first; row < last; ++row) {
      for (std::int64_t variable = 0; variable < shares.variables; ++variable) {
        const auto domain = worlds.domain(given + variable);
        const auto* const slope = &slopes(row, given + variable, 0);
        const auto* const share = &shares(row, variable, 0);
        auto* const out = &gradient(row, variable, 0);
        const double sum = std::accumulate(slope, slope + domain, 0.0);
        for (std::int64_t value = 0; value < domain; ++value) {
          out[value] = static_cast<Real>(slope[value] - share[value] * sum);
        }
        std::fill(out + domain, out + gradient.width, Real{0});
      }
    }
  });
}

template <typename Real>
void require_shape(const Space& worlds, const LogitRows<Real>& rows) {
  const auto seen = worlds.variables() - rows.given.width();
  const auto& logits = rows.logits;
  if (rows.given.width() > 0 && rows.given.size() != logits.size) {
    throw Error(fmt::format("given: {} rows for {} examples", rows.given.size(), logits.size));
  }
  const Seen of(worlds, std::clamp<std::int64_t>(rows.given.width(), 0, worlds.variables()));
  const auto widest = of.domains.empty() ? 0 : *std::ranges::max_element(of.domains);
  if (logits.variables == seen && logits.width >= widest) return;
  throw Error(fmt::format("logits: shape ({}, {}, {}), expected (batch, {}, {})", logits.size, logits.variables,
                          logits.width, seen, widest));
}

// Memory for so many numbers, which are not set. A thread keeps a little of it from call to call: the system takes
// longer to hand out and clear memory that was given back than a small batch takes.
class Room {
 public:
  explicit Room(std::int64_t numbers) {
    if (numbers <= kKept && !lent_) {
      lent_ = kept_here_ = true;
      if (std::ssize(kept_) < numbers) kept_.resize(as_size(numbers));
      next_ = kept_.data();
    } else {
      own_ = std::make_unique_for_overwrite<double[]>(as_size(numbers));  // NOLINT(modernize-avoid-c-arrays)
      next_ = own_.get();
    }
  }
  ~Room() {
    if (kept_here_) lent_ = false;
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  double* take(std::int64_t numbers) { return std::exchange(next_, next_ + numbers); }

 private:
  static constexpr std::int64_t kKept = 1 << 17;
  static thread_local std::vector<double> kept_;
  static thread_local bool lent_;

  std::unique_ptr<double[]> own_;  // NOLINT(modernize-avoid-c-arrays)
  bool kept_here_ = false;
  double* next_ = nullptr;
};
thread_local std::vector<double> Room::kept_;
thread_local bool Room::lent_ = false;

// What labels know of worlds, given variables included.
Points with_given(PointRows given, PointRows known) {
  Points all(known.size(), given.width() + known.width());
  for (std::int64_t row = 0; row < known.size(); ++row) {
    std::ranges::copy(given[row], all[row].begin());
    std::ranges::copy(known[row], all[row].begin() + given.width());
  }
  return all;
}

}  // namespace

template <typename Real>
void label_log_prob(const Backend& backend, const LogitRows<Real>& rows, const LabelRows& labels,
                    std::span<Real> log_probs, ValuesOfBeliefs<Real> gradient, WholeWorlds whole) {
  const auto& worlds = backend.worlds();
  require_shape(worlds, rows);
  const auto size = rows.logits.size, given = rows.given.width();
  const bool joins = given > 0 && labels.worlds.width() > 0;
  const auto joined = joins ? with_given(rows.given, labels.worlds) : Points();
  const PointRows known = joins ? joined.rows() : labels.worlds;
  const Softmax<Real> softmax(worlds, rows);
  const auto width = worlds.largest_domain(), seen = rows.logits.variables, row_size = softmax.row_size();
  const auto at_once = std::min(size, std::max<std::int64_t>(1, kNumbersAtOnce / std::max<std::int64_t>(1, row_size)));
  Room room(at_once * (row_size * (gradient.empty() ? 1 : 2) + seen * width + 1));
  auto* const of_logs = room.take(at_once * row_size);
  auto* const of_shares = room.take(at_once * seen * width);
  auto* const of_rows = room.take(at_once);
  auto* const of_slopes = gradient.empty() ? nullptr : room.take(at_once * row_size);
  for (std::int64_t begin = 0; begin < size; begin += at_once) {
    const auto count = std::min(at_once, size - begin);
    const GradientRows logs(of_logs, count, worlds.variables(), width), shares(of_shares, count, seen, width),
        slopes(of_slopes, count, worlds.variables(), width);
    const std::span<double> found(of_rows, as_size(count));
    softmax.run(begin, logs, shares);
    const auto piece = [&](PointRows of) { return of.width() > 0 ? of.slice(begin, begin + count) : of; };
    const LabelRows of_piece{
        .outputs = piece(labels.outputs),
        .holds = labels.holds.empty() ? labels.holds : labels.holds.subspan(as_size(begin), as_size(count)),
        .worlds = piece(known)};
    label_log_prob(backend, logs, of_piece, found, slopes, whole);
    std::ranges::transform(found, log_probs.begin() + begin, [](double value) { return static_cast<Real>(value); });
    if (!gradient.empty()) through_softmax(worlds, given, slopes, shares, gradient.slice(begin, begin + count));
  }
}

template <typename Real>
std::vector<double> log_beliefs_of(const Space& worlds, const LogitRows<Real>& rows) {
  require_shape(worlds, rows);
  const Softmax<Real> softmax(worlds, rows);
  const auto size = rows.logits.size, width = worlds.largest_domain();
  std::vector<double> logs(as_size(size * softmax.row_size())), shares(as_size(size * rows.logits.variables * width));
  softmax.run(0, {logs.data(), size, worlds.variables(), width}, {shares.data(), size, rows.logits.variables, width});
  return logs;
}

template void label_log_prob(const Backend&, const LogitRows<float>&, const LabelRows&, std::span<float>,
                             ValuesOfBeliefs<float>, WholeWorlds);
template void label_log_prob(const Backend&, const LogitRows<double>&, const LabelRows&, std::span<double>,
                             ValuesOfBeliefs<double>, WholeWorlds);
template std::vector<double> log_beliefs_of(const Space&, const LogitRows<float>&);
template std::vector<double> log_beliefs_of(const Space&, const LogitRows<double>&);

}  // namespace anesi
