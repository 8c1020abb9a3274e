// What the Python class anesi.Knowledge stands on: knowledge in the library's sense, asked with logits or with beliefs.
//
// Nothing here knows Python. All methods may be called without its lock; several threads may ask one at once, but only
// one may learn, and nobody may ask meanwhile.
#pragma once

#include <torch/torch.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anesi/check/model_check.h"
#include "anesi/core/say.h"
#include "anesi/losses/partners.h"
#include "anesi/models/exact_model.h"
#include "anesi/predict/predictor.h"
#include "anesi/predict/saved_model.h"
#include "anesi/train/knowledge.h"
#include "core_options.h"

namespace anesi::python {

// In the place of an architecture: the approximate back end, for constraints of which no circuit compiles in time.
inline constexpr const char* kPropagation = "propagation";

// Beliefs as they come from outside: of the variables that perception sees, [batch, variables, domain], with what c is
// told besides. All on any device, of any floating type.
struct Asked {
  torch::Tensor values;
  bool logits = true;
  torch::Tensor given = {};  // int64 [batch, given variables]; undefined where c is told nothing
};

// How q was chosen, so that another process or another day need not ask c again.
struct Choice {
  std::string architecture, reason;
  NamedTensors facts = {};
  std::int64_t calls = 0;
  double seconds = 0;
  std::optional<DistanceBound> certificate = {};
};

struct CheckFigures {
  std::int64_t beliefs = 0;
  std::optional<Distance> distance = {};        // from exact inference, where there is another to compare with
  std::optional<DistanceBound> bound = {};      // of a memory or of tables
  std::optional<Certificate> multilinear = {};  // of a q that learned and is multilinear
  std::optional<ExploitCheck> exploits = {};
};

class Core {
 public:
  // The problem's first `given` world variables are what c is told besides. Architecture "" is the one that suits; with
  // an order, a memory is looked for that reads the variables so. What was `chosen` before is not found out again.
  Core(std::shared_ptr<const Problem> problem, std::int64_t given, const std::string& architecture,
       const std::vector<std::string>& settings, std::uint64_t seed, Say say, const std::optional<Choice>& chosen = {},
       const std::vector<std::int64_t>& order = {});
  const Problem& problem() const { return *knowledge_.problem; }
  const std::vector<std::int64_t>& worlds() const { return seen_domains_; }  // domains, without what is given
  std::vector<std::int64_t> given() const;
  const Choice& choice() const { return choice_; }
  // Whether answers are exact, as far as what was found is.
  bool is_exact() const { return asks_back_end() && knowledge_.model.exact->backend().is_exact(); }
  bool learns() const { return learns_beside() || watches_; }
  bool learns_q() const { return knowledge_.learns_q; }
  std::int64_t grown() const { return knowledge_.grown; }
  std::shared_ptr<const Automaton> automaton() const { return knowledge_.problem->facts().share<Automaton>(); }

  // [batch, given and other variables, domain]. Throws UsageError where shapes do not fit or something is no number.
  torch::Tensor beliefs(const Asked& asked) const { return beliefs(asked, type()); }

  // log of how likely each observation is, [batch], in the type and on the device of what was asked.
  torch::Tensor log_prob(const Asked& asked, const Observations& seen) const;
  // Minus the mean of it, a scalar. Throws UsageError where one is impossible.
  torch::Tensor loss(const Asked& asked, const Observations& seen) const;
  // Algorithm 1 once; beliefs are those of beliefs(), of all partners where there are such. The loss of q's update;
  // empty where q does not learn.
  std::optional<double> learn(const torch::Tensor& beliefs);
  // Whether a memory that was found still gives what c does, on a few worlds of these beliefs: those on which it does
  // not, or undefined. c is asked every few calls.
  torch::Tensor watch(const torch::Tensor& beliefs);
  // Finds the memory again with those.
  void grow(const torch::Tensor& wrong);
  // c of worlds that begin with what is given. Throws UsageError where they are none.
  torch::Tensor apply(const torch::Tensor& worlds) const;

  Predictions predict(const Asked& asked, std::int64_t top) const;
  // The most probable worlds behind outputs, int64 [batch, found, variables], and their probabilities [batch, found],
  // 0 where a place is not filled.
  std::pair<torch::Tensor, torch::Tensor> explain(const Asked& asked, const torch::Tensor& outputs,
                                                  std::int64_t top) const;
  // double [batch, variables, domain]
  torch::Tensor marginals(const Asked& asked, const torch::Tensor& outputs) const;
  // int64 [batch, count, variables]
  torch::Tensor sample(const Asked& asked, const torch::Tensor& outputs, std::int64_t count, std::uint64_t seed) const;
  // The most probable world that gives each output, int64 [batch, variables], kUnset where none was found, and
  // log p(w|P), double [batch], -inf there.
  std::pair<torch::Tensor, torch::Tensor> most_probable(const Asked& asked, const torch::Tensor& outputs) const;
  CheckFigures check(const Asked& asked, std::int64_t samples) const;
  std::vector<RecordedStep> record(const Asked& asked, const std::vector<std::int64_t>& output,
                                   const std::vector<std::int64_t>& world) const;

  // Seconds that the loss and its gradient take a C++ program that has logits, [batch, variables, domain], and labels:
  // the median of so many times. What a call from Python is compared with.
  double seconds_in_cpp(const torch::Tensor& logits, const torch::Tensor& outputs, std::int64_t times) const;

  NamedTensors state() const;
  // Computes in the type of that state from then on. Throws UsageError or Error, and changes nothing, where it is not
  // of a Knowledge that was made in the same way.
  void load_state(const NamedTensors& state);
  void save(const std::filesystem::path& directory) const;

  void join(Partners partners);
  // f32 or f64: what a q that learns computes in. Exact inference is always in f64.
  void to(torch::ScalarType type);

 private:
  friend std::unique_ptr<Core> load_core(const std::filesystem::path& directory, std::shared_ptr<const Problem> problem,
                                         Say say);
  // Whether a back end answers, exactly or approximately, rather than a q with weights.
  bool asks_back_end() const { return knowledge_.model.exact != nullptr; }
  bool learns_beside() const { return knowledge_.learns_q && !options_->q.frozen; }
  void choose(const std::string& architecture, const std::optional<Choice>& chosen);
  void learn_alone();
  InferenceModel make(const Problem& problem, const std::string& architecture) const;
  Predictor predictor() const { return predictor_of(knowledge_.problem); }
  Predictor predictor_of(const std::shared_ptr<const Problem>& problem) const;
  // bool [batch]: whether some world gives each output.
  torch::Tensor is_possible(const Asked& asked, const torch::Tensor& outputs) const;
  void require_possible(const Asked& asked, const torch::Tensor& outputs) const;
  // What the model computes in.
  torch::ScalarType type() const { return knowledge_.learns_q ? type_ : torch::kFloat64; }
  // As beliefs(), in logarithms.
  LogBeliefs log_beliefs(const Asked& asked) const;
  // What an answer is about that names no output.
  torch::Tensor predicted_outputs(const Asked& asked) const;
  torch::Tensor beliefs(const Asked& asked, torch::ScalarType type) const;
  // Throws UsageError where values have another type or shape.
  void check_shape(const Asked& asked) const;
  Observations checked(const Asked& asked, Observations seen) const;
  // What q and its loss have learned, as state() has it.
  NamedTensors learned() const;
  void load_learned(const NamedTensors& state);
  // In the type that is computed in, on the CPU.
  torch::Tensor observed(const Asked& asked, const Observations& seen, bool must_be_possible) const;
  // How likely checked observations are by what is learned through, [batch].
  torch::Tensor log_prob_of(const torch::Tensor& beliefs, const Observations& seen, const LogBeliefs* logs) const;
  // Labels as the library takes them, int64 [batch, variables] on the CPU.
  torch::Tensor checked_outputs(const torch::Tensor& outputs, std::int64_t batch, bool may_be_open = false) const;
  torch::Tensor checked_worlds(const torch::Tensor& worlds, std::int64_t batch, const torch::Tensor& given) const;
  torch::Tensor checked_given(const Asked& asked) const;
  torch::Tensor without_given(const torch::Tensor& rows, std::int64_t dimension) const;

  std::unique_ptr<CoreOptions> options_;
  std::int64_t given_;
  Knowledge knowledge_;
  Choice choice_;
  torch::ScalarType type_ = torch::kFloat32;
  bool watches_ = false;     // whether a memory was watched at first; it may not be any more
  std::int64_t steps_ = 0;   // calls of learn(): q learns in every few of them (q.every)
  torch::Tensor unwatched_;  // worlds that the memory and c are to be compared on, int64; undefined: none
  std::vector<std::int64_t> seen_domains_;  // of the variables that perception sees
  std::int64_t largest_seen_ = 0;           // of those domains
};

// A saved model. Without a problem, c is what was saved of it: a memory or tables that were found, or all its outputs.
// Throws Error where none of these was saved.
std::unique_ptr<Core> load_core(const std::filesystem::path& directory, std::shared_ptr<const Problem> problem,
                                Say say);

// Throws UsageError where a fact that was told is of other spaces than the problem's, or says something else of worlds
// than the function.
void check_told_facts(const Problem& problem);

}  // namespace anesi::python
