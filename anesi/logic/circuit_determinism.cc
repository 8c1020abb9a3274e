// Whether some model would be counted twice, tried on drawn assignments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/logic/circuit_files.h"

namespace anesi {
namespace {

// Assignments, 64 at once: a word for each variable and for each node.
class DeterminismCheck {
 public:
  DeterminismCheck(const Circuit& circuit, std::uint64_t seed) : circuit_(circuit), random_(seed) {
    const auto nodes = static_cast<std::size_t>(circuit.nodes());
    log_models_.resize(nodes, 0);
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto parts = circuit.parts(static_cast<std::int64_t>(node));
      if (circuit.kind(static_cast<std::int64_t>(node)) != Circuit::Kind::kSum) {
        for (const auto part : parts) log_models_[node] += log_models_[static_cast<std::size_t>(part)];
        continue;
      }
      sums_.push_back(static_cast<std::int32_t>(node));
      double largest = 0, sum = 0;  // every part has a model
      for (const auto part : parts) largest = std::max(largest, log_models_[static_cast<std::size_t>(part)]);
      for (const auto part : parts) sum += std::exp(log_models_[static_cast<std::size_t>(part)] - largest);
      log_models_[node] = largest + std::log(sum);
    }
  }

  void run(std::string_view name) {
    if (sums_.empty()) return;
    const auto root = static_cast<std::int32_t>(circuit_.nodes()) - 1;
    for (int round = 0; round < kRounds; ++round) {
      const bool anywhere = round + 1 == kRounds;
      values_.assign(static_cast<std::size_t>(circuit_.variables()) + 1, 0);
      visited_ = 0;
      int draws = 0;
      for (; draws < 64 && visited_ < kMostVisits; ++draws) {
        descend(root, draws, /*in_proportion=*/!anywhere);
        if (anywhere) descend(sums_[random_() % sums_.size()], draws, /*in_proportion=*/false);
      }
      evaluate(draws == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << draws) - 1, name);
    }
  }

 private:
  static constexpr int kRounds = 4;
  static constexpr std::size_t kMostVisits = std::size_t{1} << 22;  // a round: a fraction of a second

  // Chooses a part of each sum, in proportion to its models or each alike.
  void descend(std::int32_t from, int bit, bool in_proportion) {
    open_.assign(1, from);
    while (!open_.empty()) {
      const auto node = open_.back();
      open_.pop_back();
      const auto parts = circuit_.parts(node);
      ++visited_;
      if (circuit_.kind(node) == Circuit::Kind::kLiteral) {
        auto& values = values_[static_cast<std::size_t>(std::abs(circuit_.literal(node)))];
        const auto mask = std::uint64_t{1} << bit;
        values = circuit_.literal(node) > 0 ? values | mask : values & ~mask;
      } else if (circuit_.kind(node) == Circuit::Kind::kProduct) {
        open_.insert(open_.end(), parts.begin(), parts.end());
      } else if (in_proportion) {
        visited_ += parts.size();
        double left = std::uniform_real_distribution<double>(0, 1)(random_);
        auto chosen = parts.begin();
        for (; chosen + 1 != parts.end(); ++chosen) {
          left -=
              std::exp(log_models_[static_cast<std::size_t>(*chosen)] - log_models_[static_cast<std::size_t>(node)]);
          if (left < 0) break;
        }
        open_.push_back(*chosen);
      } else {
        open_.push_back(parts[random_() % parts.size()]);
      }
    }
  }

  void evaluate(std::uint64_t drawn, std::string_view name) {
    holds_.resize(static_cast<std::size_t>(circuit_.nodes()));
    for (std::size_t node = 0; node < holds_.size(); ++node) {
      const auto index = static_cast<std::int64_t>(node);
      if (circuit_.kind(index) == Circuit::Kind::kLiteral) {
        const auto values = values_[static_cast<std::size_t>(std::abs(circuit_.literal(index)))];
        holds_[node] = circuit_.literal(index) > 0 ? values : ~values;
        continue;
      }
      const bool is_sum = circuit_.kind(index) == Circuit::Kind::kSum;
      std::uint64_t together = is_sum ? 0 : ~std::uint64_t{0}, twice = 0;
      for (const auto part : circuit_.parts(index)) {
        const auto its = holds_[static_cast<std::size_t>(part)];
        twice |= together & its;
        together = is_sum ? together | its : together & its;
      }
      if (is_sum && (twice & drawn) != 0) {
        throw Error(fmt::format(
            "{}: two parts of a sum over {} are true at once, so their models would be counted twice; the circuit is "
            "not deterministic",
            name, variables_in_words(index)));
      }
      holds_[node] = together;
    }
  }

  std::string variables_in_words(std::int64_t top) const {
    constexpr std::size_t kNamed = 8;
    std::vector<char> needed(static_cast<std::size_t>(top) + 1, 0);
    needed.back() = 1;
    std::set<int> variables;
    for (auto node = top; node >= 0; --node) {
      if (needed[static_cast<std::size_t>(node)] == 0) continue;
      if (circuit_.kind(node) == Circuit::Kind::kLiteral) variables.insert(std::abs(circuit_.literal(node)));
      for (const auto part : circuit_.parts(node)) needed[static_cast<std::size_t>(part)] = 1;
    }
    const std::vector<int> named(
        variables.begin(),
        std::next(variables.begin(), static_cast<std::ptrdiff_t>(std::min(kNamed, variables.size()))));
    return fmt::format("variable{} {}{}", named.size() == 1 ? "" : "s", fmt::join(named, ", "),
                       variables.size() > kNamed ? ", …" : "");
  }

  const Circuit& circuit_;
  std::mt19937_64 random_;
  std::vector<double> log_models_;
  std::vector<std::int32_t> sums_, open_;
  std::vector<std::uint64_t> values_, holds_;
  std::size_t visited_ = 0;
};

}  // namespace

void check_deterministic(const Circuit& circuit, std::uint64_t seed, std::string_view name) {
  DeterminismCheck(circuit, seed).run(name);
}

}  // namespace anesi
