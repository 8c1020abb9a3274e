// Exact inference of one's own, for outputs that depend on a count alone: dynamic programming over counts.
#pragma once

#include <anesi/exact/backends.h>

#include "counts_only.h"

class CountBackend final : public anesi::Backend {
 public:
  // Empty if the problem does not say that counts are enough.
  static std::optional<anesi::BackendCost> applies(const anesi::Problem& problem, const anesi::ExactOptions& options);
  // Asks c once for each count.
  CountBackend(const anesi::Problem& problem, const anesi::ExactOptions& options);

 private:
  void find_log_prob(const anesi::Query& query, std::span<double> log_probs,
                     anesi::GradientRows gradient) const override;
  void find_most_probable(const anesi::Query& query, anesi::MutablePointRows worlds,
                          std::span<double> log_probs) const override;
  void draw(const anesi::Query& query, std::span<anesi::Random> randoms, anesi::MutablePointRows worlds) const override;

  bool gives(std::int64_t count, anesi::Values output) const;
  // log of how likely the output is if `count` of the first variables have the value, [variables + 1][counts].
  std::vector<std::vector<double>> ahead(const double* logs, std::int64_t width, anesi::Values output) const;
  // log of how likely a variable does not have the value.
  double log_other(const double* logs, std::int64_t width, std::int64_t variable) const;

  std::int64_t value_;
  anesi::Points outputs_of_counts_;
};
