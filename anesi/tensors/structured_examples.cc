#include "anesi/tensors/structured_examples.h"

#include "anesi/core/error.h"
#include "anesi/core/space.h"
#include "anesi/tensors/observations.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

Splits split_structured(const torch::Tensor& inputs, const torch::Tensor& worlds, std::int64_t known,
                        const StructuredOptions& options, std::uint64_t seed, std::string origin) {
  const auto count = inputs.size(0);
  const auto order = torch::randperm(count, seeded(seed), torch::kInt64);
  const auto training = count * 3 / 5, testing = count * 4 / 5;
  const auto part = [&](std::int64_t begin, std::int64_t end, double labelled) {
    auto rows = order.slice(0, begin, end);
    const auto told = static_cast<std::int64_t>(labelled * static_cast<double>(rows.size(0)));
    if (!options.unlabelled) rows = rows.slice(0, 0, told);
    if (rows.size(0) == 0) throw UsageError("too few examples: no training label is left");
    const auto truth = worlds.index_select(0, rows);
    auto labels = truth.clone();
    labels.slice(0, told).slice(1, known).fill_(kUnset);
    return tensor_examples(inputs.index_select(0, rows), constrained_labels(labels), truth);
  };
  Splits splits;
  splits.train = part(0, training, options.labelled);
  splits.validation = part(training, testing, 1);
  splits.test = part(testing, count, 1);
  splits.origin = std::move(origin);
  return splits;
}

}  // namespace anesi
