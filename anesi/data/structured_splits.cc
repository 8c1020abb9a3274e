#include "anesi/data/structured_splits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/data/shuffled.h"
#include "anesi/formula/constraint.h"

namespace anesi {

SplitArrays split_structured(const Array& inputs, const Points& worlds, std::int64_t known,
                             const StructuredOptions& options, std::uint64_t seed, std::string origin) {
  const auto count = worlds.size();
  const auto order = shuffled(count, seed);
  const auto training = count * 3 / 5, testing = count * 4 / 5;
  const auto part = [&](std::int64_t begin, std::int64_t end, double labelled) {
    const auto told = static_cast<std::int64_t>(labelled * static_cast<double>(end - begin));
    if (!options.unlabelled) end = begin + told;
    if (begin == end) throw UsageError("too few examples: no training label is left");
    const std::vector<std::int64_t> rows(order.begin() + begin, order.begin() + end);
    auto truth = rows_at(worlds, rows), labels = truth;
    for (auto row = told; row < labels.size(); ++row) std::ranges::fill(labels[row].subspan(as_size(known)), kUnset);
    const auto size = truth.size();
    return ExampleArrays{.inputs = rows_of(inputs, rows),
                         .outputs = array_of(Points(size, 1, kSatisfied)),
                         .observed_worlds = array_of(std::move(labels)),
                         .worlds = array_of(std::move(truth))};
  };
  return {.train = part(0, training, options.labelled),
          .validation = part(training, testing, 1),
          .test = part(testing, count, 1),
          .origin = std::move(origin)};
}

}  // namespace anesi
