#include "anesi/tensors/examples.h"

#include "anesi/core/space.h"

namespace anesi {
namespace {

class TensorExamples final : public Examples {
 public:
  TensorExamples(torch::Tensor inputs, Observations labels, torch::Tensor worlds)
      : Examples(std::move(labels), std::move(worlds)), inputs_(std::move(inputs)) {}

  torch::Tensor inputs(const torch::Tensor& rows) const override { return inputs_.index_select(0, rows); }
  std::vector<std::int64_t> fingerprint_of_inputs() const override {
    // Floats by their bits, as floats.
    const auto whole = inputs_.contiguous();
    return {whole.is_floating_point() ? checksum(whole.to(torch::kFloat32).view(torch::kInt32)) : checksum(whole)};
  }

 private:
  torch::Tensor inputs_;
};

}  // namespace

torch::Tensor Examples::inputs_of(const torch::Tensor& rows, const torch::Tensor& variables) const {
  const auto whole = inputs(rows);  // [n, variables, …]
  return whole.index({torch::arange(rows.size(0)), variables}).unsqueeze(1);
}

Batch Examples::batch(const torch::Tensor& rows) const {
  return {inputs(rows), labels_.rows(rows), worlds_.defined() ? worlds_.index_select(0, rows) : torch::Tensor()};
}

Batch Examples::batch(std::int64_t begin, std::int64_t end) const {
  return batch(torch::arange(begin, end, torch::kInt64));
}

std::shared_ptr<const Examples> tensor_examples(torch::Tensor inputs, Observations labels, torch::Tensor worlds) {
  TORCH_CHECK(inputs.size(0) == labels.size(), "examples: ", labels.size(), " labels for ", inputs.size(0), " inputs");
  for (const auto& more : {labels.outputs, labels.holds, labels.worlds, worlds}) {
    TORCH_CHECK(!more.defined() || more.size(0) == inputs.size(0), "examples: a label of ", more.size(0), " rows for ",
                inputs.size(0), " inputs");
  }
  return std::make_shared<TensorExamples>(std::move(inputs), std::move(labels), std::move(worlds));
}

std::int64_t checksum(const torch::Tensor& values) {
  const auto flat = values.reshape({-1}).to(torch::kInt64);
  return (flat * torch::arange(1, flat.numel() + 1, torch::kInt64)).sum().item<std::int64_t>();
}

std::vector<std::int64_t> fingerprint(const Splits& data) {
  std::vector<std::int64_t> numbers;
  for (const auto& split : {data.train, data.validation, data.test}) {
    numbers.push_back(split ? split->size() : 0);
    if (!split || split->size() == 0) continue;
    const auto inputs = split->fingerprint_of_inputs();
    numbers.insert(numbers.end(), inputs.begin(), inputs.end());
    const auto& labels = split->labels();
    numbers.push_back(labels.outputs.defined() ? checksum(labels.outputs) : 0);
    numbers.push_back(labels.holds.defined() ? checksum(labels.holds) : 0);
    if (labels.worlds.defined()) numbers.push_back(checksum(labels.worlds));
  }
  return numbers;
}

}  // namespace anesi
