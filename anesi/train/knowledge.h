// A function, a q of it, and the loss between the two: what a perception learns through, whichever loop it learns in.
//
//   Knowledge knowledge(problem, /*seed=*/1);
//   knowledge.learn_through_what_suits();
//   const auto loss = knowledge.loss->loss(beliefs, outputs);   // in your own loop; learner.h brings one
//   loss.backward();
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/discover/discover.h"
#include "anesi/losses/amortized.h"
#include "anesi/losses/loss.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/inference_model.h"

namespace anesi {

// A method that says what is learned through leaves nothing of one that was called before.
struct Knowledge {
  // The seed decides every draw.
  explicit Knowledge(std::shared_ptr<const Problem> problem, std::uint64_t seed = 0);

  // Perception is to learn through a q of this architecture, whose weights the seed decides and which learns from
  // samples of c: A-NeSI. Settings are as for make_model: {"states=8"}.
  void learn_through(const std::string& architecture, const std::vector<std::string>& settings = {},
                     bool explain = false, const AmortizedOptions& options = {});
  // Perception is to learn through exact inference: no q learns. Throws Error where the problem allows none.
  void learn_exactly(const ExactOptions& options = {});
  // Perception is to learn through whatever suits the problem, which is found out by asking c (choose_q.h); the problem
  // then has the facts that were found. `say` is told what was chosen and why.
  void learn_through_what_suits(const DiscoverOptions& options = {},
                                const std::function<void(const std::string&)>& say = {});
  // The same through a q that is there already. Without a prior, q learns from worlds alone where it is multilinear,
  // and else from beliefs of a Dirichlet of concentration 0.2. It learns from samples of the problem or, where one is
  // given, of another that is smaller and of the same kind.
  void learn_through(InferenceModel q, const AmortizedOptions& options = {}, std::unique_ptr<BeliefPrior> prior = {},
                     std::shared_ptr<const Problem> sampled = {});

  std::shared_ptr<const Problem> problem;
  std::uint64_t seed;
  at::Generator generator;  // what losses and phases draw from

  InferenceModel model;        // q
  std::unique_ptr<Loss> loss;  // usually through it
  bool learns_q = false;       // whether the loss has a q that learns from samples of c
  bool through_q = true;       // whether perception learns through q; where not, evaluations leave out what q says
  bool prunes = false;         // whether q learns under the problem's pruner: answers then keep to it as well

  // Where q is a memory that was found by asking c: how closely it is watched (watch.h), and how often it was found
  // anew.
  struct Watched {
    std::int64_t worlds = 0;  // of each step; 0: it is not
    DiscoverOptions options = {};
  } watched;
  std::int64_t grown = 0;
  std::function<void(const std::string&)> say;  // told in a line what happens by itself; may be empty

 private:
  // As before any method was called, but for the generator, which goes on.
  void begin_again();

  std::shared_ptr<const Problem> declared_;  // the problem without what was found of it; null where nothing was
};

}  // namespace anesi
