// Many points drawn from each row of a context, where equal beginnings are asked about once.
//
// Thousands of draws over a few variables share most of their beginnings. Drawn together they are a tree whose nodes
// count the draws that go through them; the model, and the pruner, answer once for each node. The draws themselves are
// independent of each other, as those of sample() are.
#pragma once

#include "anesi/models/prune.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

struct SampleTree {
  // The nodes after one more variable was chosen. The root's are the rows of the context.
  struct Level {
    torch::Tensor parent;    // int64 [nodes]: the node of the level before that this one continues
    torch::Tensor row;       // int64 [nodes], of the context
    torch::Tensor values;    // int64 [nodes, variables], kUnset where not chosen yet
    torch::Tensor log_prob;  // double [nodes], of the last choice alone; under pruning where there is
    torch::Tensor draws;     // int64 [nodes]
    torch::Tensor offered;   // bool [nodes of the level before, domain]: values that were not impossible
  };
  std::vector<Level> levels;  // one for each variable, in the model's order
  torch::Tensor draws;        // int64 [rows of the context], as many as were asked for

  const Level& points() const { return levels.back(); }
  // log q of the points, double [points].
  torch::Tensor log_prob() const;
};

// So many draws for each row of the context. Draws whose rollout offers them nothing end there: fewer go on than came.
SampleTree sample_tree(SequenceModel& model, const Context& context, std::int64_t samples, at::Generator generator,
                       const Pruning* pruning = nullptr);

}  // namespace anesi
