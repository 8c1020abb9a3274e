#include "anesi/builtin/preference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/formula/constraint.h"
#include "anesi/io/input_file.h"
#include "anesi/logic/circuit_builder.h"

namespace anesi {
namespace {

constexpr std::size_t kKinds = 10;
constexpr std::int64_t kGeneratedRankings = 4926;  // as many as were published

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
  Array inputs;   // float32 [examples, 36]
  Points worlds;  // [examples, 16]
};

class RankingRows {
 public:
  // All ten kinds, the favourite first.
  void add(const std::vector<int>& ranking) {
    add_matrix(ranking, kShownKinds, inputs_);
    add_matrix(ranking, kAskedKinds, worlds_);
  }
  Rankings rankings() const {
    constexpr std::int64_t kInputs = kShownKinds.size() * kShownKinds.size(),
                           kVariables = kAskedKinds.size() * kAskedKinds.size();
    const auto count = std::ssize(worlds_) / kVariables;
    return {Array::of<float>({count, kInputs}, inputs_), Points(PointRows(worlds_.data(), count, kVariables))};
  }

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

SplitArrays load_rankings(const PreferenceOptions& options, const TaskContext& context) {
  const auto file = context.data ? *context.data / "sushi.soc" : std::filesystem::path();
  const bool published = std::filesystem::exists(file);
  if (!published && context.say) context.say("no published rankings there: making some of the same kind");
  const auto data = published ? read_rankings(file) : make_rankings(kGeneratedRankings, context.seed);
  return split_structured(data.inputs, data.worlds, 0, options.structured, context.seed,
                          published ? file.filename().string() : "generated");
}

}  // namespace

Builtin preference(const PreferenceOptions& options, const TaskContext& context) {
  constexpr int kSide = kAskedKinds.size();
  Encoding encoding;
  for (int variable = 1; variable <= kSide * kSide; ++variable) encoding.worlds.push_back({-variable, variable});
  return {.problem = make_constraint(
              std::make_shared<CompiledFormula>(CompiledFormula{permutation_circuit(kSide), std::move(encoding)})),
          .load = [options, context] { return load_rankings(options, context); }};
}

namespace {
ANESI_BUILTIN(PreferenceOptions, preference);
}  // namespace

}  // namespace anesi
