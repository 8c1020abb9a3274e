// A function and exact inference of it in one object, for programs that have beliefs from anywhere: it is found by
// querying the function, asked with plain arrays, saved and loaded again.
//
//   const anesi::Exact sum(anesi::make_problem({10, 10}, {19}, [](auto w, auto y) { y[0] = w[0] + w[1]; }));
//   sum.predict({probabilities, sum.worlds()}, /*top=*/3);         // probabilities: [batch, 2, 10]
//   sum.explain({probabilities, sum.worlds()}, {13}, /*top=*/3);   // which digits sum to 13?
//   sum.save("sum.anesi");                                         // loading needs no function
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/discover/discover.h"
#include "anesi/exact/backends.h"
#include "anesi/exact/labels.h"

namespace anesi {

// What is believed of each variable of a batch of worlds.
class Beliefs {
 public:
  // Probabilities, [batch, variables, largest domain] in one piece; those past a variable's domain do not count. Throws
  // Error if there are no whole rows, or if one is not a probability.
  Beliefs(std::span<const float> probabilities, const Space& worlds);
  Beliefs(std::span<const double> probabilities, const Space& worlds);
  // Logits, of which the softmax over each variable's domain is the belief.
  static Beliefs of_logits(std::span<const float> logits, const Space& worlds);
  static Beliefs of_logits(std::span<const double> logits, const Space& worlds);

  std::int64_t size() const { return rows().size; }
  LogBeliefRows rows() const;

 private:
  struct Logs {
    std::vector<double> values;
  };
  Beliefs(Logs logs, const Space& worlds);

  std::vector<double> logs_;
  std::int64_t variables_, width_;
};

struct ProbablePoint {
  std::vector<std::int64_t> values;  // of a world or an output
  double probability;
};

// Points of each row, most probable first.
class ProbablePoints {
 public:
  explicit ProbablePoints(std::vector<std::vector<ProbablePoint>> rows) : rows_(std::move(rows)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  const std::vector<ProbablePoint>& operator[](std::int64_t row) const& { return rows_[static_cast<std::size_t>(row)]; }
  // A copy, so that `for (const auto& point : exact.predict(beliefs)[0])` is no dangling reference.
  std::vector<ProbablePoint> operator[](std::int64_t row) && { return std::move(rows_[static_cast<std::size_t>(row)]); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::vector<std::vector<ProbablePoint>> rows_;
};

// Constant; several threads may ask at once.
class Exact {
 public:
  // Takes the cheapest back end for what the problem declares or, if there is none, for what discover() finds out.
  // `say` is told now and then how far that is. Throws Error, which says why, if nothing is found.
  explicit Exact(std::shared_ptr<const Problem> problem, const ExactOptions& options = {},
                 const DiscoverOptions& discovery = {}, std::uint64_t seed = 0,
                 const std::function<void(const std::string&)>& say = {});

  const Space& worlds() const { return problem_->worlds(); }
  const Space& outputs() const { return problem_->outputs(); }
  const Problem& problem() const { return *problem_; }
  const Backend& backend() const { return *backend_; }
  const std::string& method() const { return method_; }  // the back end's name
  // Of what was discovered: on how many worlds at most it differs from the function.
  const std::optional<DistanceBound>& certificate() const { return certificate_; }

  // log p(label|P) of each row (exact/labels.h).
  std::vector<double> log_prob(const Beliefs& beliefs, const LabelRows& labels,
                               WholeWorlds whole = WholeWorlds::kGivenOutput) const;
  // The most probable outputs of each row, at most `top`, with p(y|P).
  ProbablePoints predict(const Beliefs& beliefs, std::int64_t top = 1) const;
  // The most probable worlds of each row that give an output, at most `top`, with p(w|y,P). One output for each row, or
  // one for all.
  ProbablePoints explain(const Beliefs& beliefs, const Points& outputs, std::int64_t top = 1) const;
  // p(w_i = v|y,P), [batch, variables, largest domain]; 0 if an output is impossible.
  std::vector<double> marginals(const Beliefs& beliefs, const Points& outputs) const;
  // A world of each row from p(w|y,P). Throws Error if an output is impossible.
  Points sample(const Beliefs& beliefs, const Points& outputs, Random& random) const;

  // One file, safetensors, that replaces another atomically. Throws Error if the formula is too large for a file.
  void save(const std::filesystem::path& file) const;
  // Throws Error if the file is damaged.
  static Exact load(const std::filesystem::path& file);

 private:
  Exact() = default;

  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<const Backend> backend_;
  std::string method_;
  std::optional<DistanceBound> certificate_;
};

}  // namespace anesi
