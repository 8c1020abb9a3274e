// Rankings of some kinds of sushi from rankings of others: outputs that must be permutations.
//
// A network is shown how somebody ranks six kinds, as a 6x6 matrix of bits, and is to say how they rank four others, as
// a 4x4 matrix of bits. What is known: whatever the answer, each kind has one rank and each rank one kind.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <random>

#include "anesi/core/error.h"
#include "anesi/formula/constraint.h"
#include "anesi/io/input_file.h"
#include "anesi/logic/circuit_builder.h"
#include "anesi/perception/tabular_mlp.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/structured_examples.h"

namespace anesi {
namespace {

constexpr std::array<int, 6> kShown{1, 2, 3, 5, 7, 8};  // kinds that the input ranks
constexpr std::array<int, 4> kAsked{4, 6, 9, 10};       // kinds that are to be ranked
constexpr std::size_t kKinds = 10;
constexpr std::int64_t kGeneratedRankings = 4926;  // as many as were published

struct PreferenceOptions {
  TabularMlpOptions network{.layers = 3, .width = 25};
  StructuredOptions structured = {};

  void describe(OptionTable& table) {
    network.describe(table);
    structured.describe(table);
  }
};

// Each row of a square of bits has one, and each column.
Circuit permutation_circuit(int side) {
  CircuitBuilder builder(side * side);
  const auto sets = std::size_t{1} << static_cast<unsigned>(side);
  // What satisfies the rows from here on, by the columns that are taken.
  std::vector<CircuitBuilder::Part> rest(sets, CircuitBuilder::kFalse);
  rest.back() = CircuitBuilder::kTrue;
  for (int row = side - 1; row >= 0; --row) {
    std::vector<CircuitBuilder::Part> before(sets, CircuitBuilder::kFalse);
    for (std::size_t taken = 0; taken < sets; ++taken) {
      std::vector<CircuitBuilder::Part> choices;
      for (int column = 0; column < side; ++column) {
        const auto with = taken | (std::size_t{1} << static_cast<unsigned>(column));
        if (with == taken || rest[with] == CircuitBuilder::kFalse) continue;
        std::vector<CircuitBuilder::Part> parts{rest[with]};
        for (int other = 0; other < side; ++other) {
          const auto variable = 1 + row * side + other;
          parts.push_back(builder.literal(other == column ? variable : -variable));
        }
        choices.push_back(builder.product(std::move(parts)));
      }
      before[taken] = builder.sum(std::move(choices));
    }
    rest = std::move(before);
  }
  return builder.build(rest.front());
}

struct Rankings {
  torch::Tensor inputs;  // float [examples, 36]
  torch::Tensor worlds;  // int64 [examples, 16]
};

class RankingRows {
 public:
  // All ten kinds, the favourite first.
  void add(const std::vector<int>& ranking) {
    add_matrix(ranking, kShown, inputs_);
    add_matrix(ranking, kAsked, worlds_);
  }
  Rankings rankings() const { return {torch::tensor(inputs_).view({-1, 36}), torch::tensor(worlds_).view({-1, 16})}; }

 private:
  // [kind][rank among these kinds]
  template <std::size_t kSize, typename Value>
  static void add_matrix(const std::vector<int>& ranking, const std::array<int, kSize>& kinds,
                         std::vector<Value>& matrix) {
    const auto start = matrix.size();
    matrix.resize(start + kSize * kSize, Value{0});
    std::size_t rank = 0;
    for (const auto kind : ranking) {
      const auto place = std::ranges::find(kinds, kind);
      if (place == kinds.end()) continue;
      matrix[start + static_cast<std::size_t>(place - kinds.begin()) * kSize + rank++] = Value{1};
    }
  }

  std::vector<float> inputs_;
  std::vector<std::int64_t> worlds_;
};

// The published format: how many kinds there are, a line for each, a line of totals, then "count,kind,kind,…" a line.
Rankings read_rankings(const std::filesystem::path& file) {
  const auto text = read_file(file, kLargestText);
  RankingRows rows;
  std::size_t line_number = 0, begin = 0, kept = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line_number <= kKinds + 2 || line.empty()) continue;
    std::vector<int> numbers;
    const auto* at = line.data();
    const auto* const stop = line.data() + line.size();
    while (at < stop) {
      int number = 0;
      const auto [next, failure] = std::from_chars(at, stop, number);
      if (failure != std::errc()) break;
      numbers.push_back(number);
      at = next + (next < stop && *next == ',' ? 1 : 0);
    }
    auto ranking = std::vector<int>(numbers.begin() + (numbers.empty() ? 0 : 1), numbers.end());
    auto sorted = ranking;
    std::ranges::sort(sorted);
    bool complete = sorted.size() == kKinds;
    for (std::size_t kind = 0; complete && kind < kKinds; ++kind) complete = sorted[kind] == static_cast<int>(kind) + 1;
    if (!complete) {
      throw Error(fmt::format("{}:{}: a count and a ranking of the kinds 1 to {} are wanted", file.string(),
                              line_number, kKinds));
    }
    rows.add(ranking);
    ++kept;
  }
  if (kept == 0) throw Error(file.string() + ": no ranking in it");
  return rows.rankings();
}

// People of a few tastes, each of whom errs: a ranking by a taste's utilities and noise.
Rankings make_rankings(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  constexpr std::size_t kTastes = 6;
  std::array<std::array<double, kKinds>, kTastes> tastes{};
  for (auto& taste : tastes) {
    for (auto& utility : taste) utility = normal(random);
  }
  RankingRows rows;
  for (std::int64_t person = 0; person < count; ++person) {
    auto utilities = tastes[random() % kTastes];
    for (auto& utility : utilities) utility += normal(random);
    std::vector<int> ranking(kKinds);
    for (std::size_t kind = 0; kind < kKinds; ++kind) ranking[kind] = static_cast<int>(kind) + 1;
    std::ranges::sort(ranking, std::greater{}, [&](int kind) { return utilities[static_cast<std::size_t>(kind - 1)]; });
    rows.add(ranking);
  }
  return rows.rankings();
}

class RankingPresentation final : public Presentation {
 public:
  std::string world(Values world) const override {
    std::string text;
    for (std::size_t rank = 0; rank < kAsked.size(); ++rank) {
      text += rank == 0 ? "" : " > ";
      std::string kinds;
      for (std::size_t kind = 0; kind < kAsked.size(); ++kind) {
        if (world[kind * kAsked.size() + rank] != 1) continue;
        kinds += fmt::format("{}{}", kinds.empty() ? "" : "/", kAsked[kind]);
      }
      text += kinds.empty() ? "-" : kinds;
    }
    return text;
  }
  std::string output(Values output) const override { return output[0] == kSatisfied ? "a ranking" : "no ranking"; }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    return read_named_output(text, {"no ranking", "a ranking"});
  }
  std::string variable(std::int64_t variable) const override {
    const auto side = static_cast<std::int64_t>(kAsked.size());
    return fmt::format("kind {} has rank {}", kAsked[static_cast<std::size_t>(variable / side)], 1 + variable % side);
  }
  std::string output_variable(std::int64_t) const override { return "constraint"; }
};

Task make_preference(const PreferenceOptions& options, const TaskContext& context) {
  Encoding encoding;
  for (int variable = 1; variable <= 16; ++variable) encoding.worlds.push_back({-variable, variable});
  return Task{
      .problem = make_constraint(
          std::make_shared<CompiledFormula>(CompiledFormula{permutation_circuit(4), std::move(encoding)})),
      .make_perception =
          [network = options.network] { return std::make_shared<TabularMlp>(36, Space::uniform(16, 2), network); },
      .load =
          [options, context] {
            const auto file = context.data ? *context.data / "sushi.soc" : std::filesystem::path();
            const bool published = std::filesystem::exists(file);
            if (!published && context.say) context.say("no published rankings there: making some of the same kind");
            const auto data = published ? read_rankings(file) : make_rankings(kGeneratedRankings, context.seed);
            return split_structured(data.inputs, data.worlds, 0, options.structured, context.seed,
                                    published ? file.filename().string() : "generated");
          },
      .presentation = std::make_shared<RankingPresentation>()};
}

const std::vector<Preset> kPreferencePresets{
    {"default",
     "the network of the published figures, three layers of 25, through exact inference: -log p(w|y,P)",
     {"loss=exact", "exact.method=circuit", "eval.decide=constrained", "train.keep=best", "train.epochs=60",
      "train.batch=64", "train.lr=0.001"}},
    {"amortized",
     "that network through a q that learned the constraint from solutions, under the pruner",
     {"loss=amortized",
      "q.architecture=mlp",
      "mlp.layers=1",
      "mlp.width=128",
      "mlp.follow_beliefs=true",
      "mlp.log_beliefs=true",
      "q.variant=prune",
      "q.policy=solutions",
      "q.samples=128",
      "q.worlds=4",
      "q.perceived=true",
      "q.counted=24",
      "q.pretrain=1000",
      "q.lr=0.001",
      "q.every=4",
      "eval.decide=constrained",
      "eval.beam=24",
      "train.keep=best",
      "train.epochs=30",
      "train.batch=64",
      "train.lr=0.001"}},
    {"alone",
     "that network alone, which knows nothing of the constraint; semantic.weight and semantic.entropy add to its loss",
     {"loss=semantic", "semantic.weight=0", "exact.method=circuit", "eval.decide=symbolic", "train.keep=best",
      "train.epochs=60", "train.batch=64", "train.lr=0.001"}},
};

ANESI_TASK("preference", "how somebody ranks four kinds of sushi, under the constraint that it is a ranking",
           PreferenceOptions, kPreferencePresets, make_preference);

}  // namespace
}  // namespace anesi
