#include "anesi/builtin/sudoku.h"

#include <fmt/format.h>

#include <cmath>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/values_are_names.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/logic/cnf.h"
#include "anesi/search/sat_pruner.h"

namespace anesi {
namespace {

std::vector<VariablePair> pairs_that_must_differ(std::int64_t size) {
  const auto side = block_side(size);
  std::vector<VariablePair> pairs;
  for (std::int64_t first = 0; first < size * size; ++first) {
    for (auto second = first + 1; second < size * size; ++second) {
      const auto row = first / size, column = first % size, other_row = second / size, other_column = second % size;
      const bool same_block = row / side == other_row / side && column / side == other_column / side;
      if (row == other_row || column == other_column || same_block) pairs.push_back({first, second});
    }
  }
  return pairs;
}

Cnf formula(const Space& worlds, const Space& outputs, const std::vector<VariablePair>& pairs) {
  Cnf cnf(worlds, outputs);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [first, second] = pairs[pair];
    const auto differ = cnf.output(static_cast<std::int64_t>(pair), 1);
    for (std::int64_t value = 0; value < worlds.largest_domain(); ++value) {
      const auto one = cnf.world(first, value), other = cnf.world(second, value);
      cnf.add({-differ, -one, -other});
      cnf.add({differ, -one, other});
    }
  }
  return cnf;
}

}  // namespace

Sudoku::Sudoku(std::int64_t size)
    : size_(size),
      worlds_(Space::uniform(size * size, size)),
      graph_(std::make_shared<PairGraph>(worlds_, pairs_that_must_differ(size))),
      outputs_(Space::uniform(static_cast<std::int64_t>(graph_->pairs().size()), 2)) {
  facts_.with(VariablePairs{graph_->pairs()})
      .with(ValuesAreNames{})
      .with(AskedOutput{valid()})
      .with(
          PropagationOf{[graph = graph_](Values output) { return std::make_unique<PairPropagation>(graph, output); }});
  const auto make_formula = [worlds = worlds_, outputs = outputs_, graph = graph_] {
    return formula(worlds, outputs, graph->pairs());
  };
  facts_.lazily<Cnf>(make_formula);
  if (size == 4 && this_build().cadical) {
    facts_.lazily<Pruner>([make_formula, worlds = worlds_, outputs = outputs_] {
      return make_sat_pruner(make_formula(), worlds, outputs);
    });
  }
}

void Sudoku::apply_to_one(Values world, MutableValues output) const {
  const auto& pairs = graph_->pairs();
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [first, second] = pairs[pair];
    output[pair] = world[static_cast<std::size_t>(first)] != world[static_cast<std::size_t>(second)] ? 1 : 0;
  }
}

}  // namespace anesi
