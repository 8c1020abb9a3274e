// A multilayer perceptron from a row of numbers to variables of two values.
#pragma once

#include <vector>

#include "anesi/options/option_table.h"
#include "anesi/perception/perception.h"

namespace anesi {

struct BitsMlpOptions {
  std::int64_t layers = 3, width = 200;
  double dropout = 0;

  void describe(OptionTable& table) {
    table.add("layers", layers, {0, 16}, "hidden layers of perception");
    table.add("width", width, {1, 16384}, "units in each of them");
    table.add("dropout", dropout, {0, 0.99}, "of hidden units while learning");
  }
};

class BitsMlp final : public Perception {
 public:
  // Inputs [batch, inputs] to beliefs [batch, told + variables, 2]. First come the variables that inputs tell, one for
  // each of these columns, which hold 0 or 1: of those it is certain.
  BitsMlp(std::int64_t inputs, std::int64_t variables, const BitsMlpOptions& options,
          std::vector<std::int64_t> told_columns = {});
  torch::Tensor forward(const torch::Tensor& inputs) override;

 private:
  torch::nn::Sequential network_;
  torch::Tensor told_columns_;  // int64
};

}  // namespace anesi
