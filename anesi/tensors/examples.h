// Labelled examples: inputs of any kind, what their labels say and, for scoring alone, the true worlds.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "anesi/tensors/observations.h"

namespace anesi {

struct Batch {
  torch::Tensor inputs;  // what perception takes, [batch, …]
  Observations observations;
  torch::Tensor worlds;      // int64 [batch, world variables], kUnset where not known; never used to train
  torch::Tensor known = {};  // int64 [batch, known variables]: values of the problem's KnownVariables that perception
                             // does not tell; undefined: it tells all
};

// Constant, and may be read from several threads.
class Examples {
 public:
  // Labels of all examples. The true worlds, int64 [examples, world variables], kUnset where not known, are for
  // scoring; undefined: none are known.
  explicit Examples(Observations labels, torch::Tensor worlds = {})
      : labels_(std::move(labels)), worlds_(std::move(worlds)) {}
  virtual ~Examples() = default;

  std::int64_t size() const { return labels_.size(); }
  const Observations& labels() const { return labels_; }
  const torch::Tensor& worlds() const { return worlds_; }
  bool has_worlds() const { return worlds_.defined(); }

  // Of these rows, int64 [batch] -> [batch, …].
  virtual torch::Tensor inputs(const torch::Tensor& rows) const = 0;
  // One variable's part of the input each: that of variable variables[i] of example rows[i], [n, 1, …]. For perceptions
  // that look at variables one by one. Default: taken from inputs(), whose second dimension is then the variables.
  virtual torch::Tensor inputs_of(const torch::Tensor& rows, const torch::Tensor& variables) const;
  // Numbers that tell these inputs apart from others, for a note where a run is given other data than before.
  virtual std::vector<std::int64_t> fingerprint_of_inputs() const = 0;

  Batch batch(const torch::Tensor& rows) const;
  Batch batch(std::int64_t begin, std::int64_t end) const;

 private:
  Observations labels_;
  torch::Tensor worlds_;
};

// Examples whose inputs are the rows of one tensor, [examples, …].
std::shared_ptr<const Examples> tensor_examples(torch::Tensor inputs, Observations labels, torch::Tensor worlds = {});

struct Splits {
  std::shared_ptr<const Examples> train, validation, test;  // validation is null unless asked for or part of the data
  std::string origin = {};                                  // where the data come from, for people

  // What a threshold or a choice of settings is to be fitted on: validation data, or training data where there are
  // none.
  const Examples& held_out() const { return validation ? *validation : *train; }
};

// Tells data apart: the number of examples of each split, and what their inputs and labels add up to, place by place.
std::vector<std::int64_t> fingerprint(const Splits& data);

// A sum that changes when values change places.
std::int64_t checksum(const torch::Tensor& values);

}  // namespace anesi
