// Labels explained all at once, by kinds: what looks alike is the same thing wherever it stands.
//
// A search explains each label by itself, which asks for labels that say much of every variable. A path says next to
// nothing of the cells it does not touch. But there are only a few kinds of cells. Here variables are sorted into
// kinds by what perception sees of them (k-means of its features). Each kind has one value, at first the one that
// perception believes. Values are then changed, of one kind or of several that share theirs, as long as the training
// examples are explained better. There are two judges of that: the problem itself, by how many examples have an output
// that would not do in the world that results (score.h), and q, by the probability it gives their outputs in
// that world, which asks c nothing. Gradients do not find such changes: between two values that a kind may have lies a
// belief in both, which explains worse than either.
#pragma once

#include <array>
#include <string_view>

#include "anesi/options/option_table.h"
#include "anesi/train/learner.h"

namespace anesi {

enum class KindsJudge { kProblem, kQ };
constexpr std::array<std::string_view, 2> names_of(KindsJudge) { return {"problem", "q"}; }

struct KindsOptions {
  KindsJudge judge = KindsJudge::kProblem;
  std::int64_t count = 9, examples = 3000, asked = 500, orders = 6;

  void describe(OptionTable& table) {
    table.add("judge", judge, "who judges what value a kind has: c on training examples, or q");
    table.add("count", count, {2, 1000}, "kinds of variables that are told apart");
    table.add("examples", examples, {1, 1000000}, "training examples that are explained, and that c judges by");
    table.add("orders", orders, {1, 1000},
              "how often values are searched, looking at kinds in another order each time");
    table.add("asked", asked, {1, 1000000}, "examples, or pieces of them, that q judges by");
  }
};

struct WorldsByKind {
  torch::Tensor rows;      // int64 [kept], of the dataset
  torch::Tensor worlds;    // int64 [kept, variables]
  double gap = 0;          // to the most likely worlds, in nats, mean
  double cost_before = 0;  // what the judge said of the values at first: the share of examples that are not explained,
                           // with a little for how badly, or nats an example
  double cost = 0;         // and in the end
};

// Of the learner's training examples. Where q judges, it sees them as training shows them: whole, or pieces of them.
// Leaves perception in evaluation mode. Throws UsageError where perception has no features, or where q is to judge and
// there is none that learned.
WorldsByKind explain_by_kinds(const Learner& learner, const KindsOptions& options, const at::Generator& generator);

}  // namespace anesi
