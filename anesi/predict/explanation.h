// Why: the worlds behind an output, or what a prediction hangs on.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace anesi {

// How an output is explained:
//   kModel      by the worlds that q(w|y,P) finds most likely
//   kSearch     by the most probable world that gives the output, found by search; where q only predicts
//   kInfluence  by how much each variable matters to log q(y|P); where q only predicts and no fact helps a search
enum class ExplainedBy { kModel, kSearch, kInfluence };
constexpr std::array<std::string_view, 3> names_of(ExplainedBy) { return {"model", "search", "influence"}; }

struct ExplainedWorld {
  std::vector<std::int64_t> world;
  double probability = 0;             // q(w|y,P); of a world that was searched for, 1
  double belief = 0;                  // p(w|P)
  bool satisfied = false;             // whether c gives the output
  std::vector<std::int64_t> changed;  // variables that differ from what was read
};

// Of one input.
struct Explanation {
  ExplainedBy by = ExplainedBy::kModel;
  torch::Tensor beliefs;                  // [worlds, domain]
  std::vector<std::int64_t> read;         // the most likely world
  std::vector<std::int64_t> read_output;  // c of it
  std::vector<std::int64_t> output;       // what is explained
  double probability = 0;                 // q(y|P) of it; by influence under pruning, as it was chosen
  std::optional<double> holds;            // that it holds, by score and threshold, where the predictor decides so
  std::vector<ExplainedWorld> worlds;     // most probable first; empty by influence, and where a search found none
  // By search: how many nats the world found lies below the one read (infinite where none was found within the limits),
  // and whether there is certainly no better one.
  double gap = 0;
  bool proven = true;
  // By influence: by how much log q of the output changes, per unit of probability that moves to one of the variable's
  // values, at most. One for each world variable.
  std::vector<double> influence;
};

struct ExplainRequest {
  std::vector<std::int64_t> output = {};  // empty: what the problem asks for, else what is predicted
  std::int64_t top = 5;                   // worlds to return, at most
  std::optional<ExplainedBy> by = {};     // by default as Predictor::explains_by says
};

// A pair of an output and a world, of q(w,y|P).
struct JointExplanation {
  std::vector<std::int64_t> output, world;
  double probability = 0;
  bool satisfied = false;
};

}  // namespace anesi
