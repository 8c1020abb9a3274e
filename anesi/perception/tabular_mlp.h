// A multilayer perceptron from a row of numbers to all variables at once.
#pragma once

#include <vector>

#include "anesi/core/space.h"
#include "anesi/options/option_table.h"
#include "anesi/perception/perception.h"

namespace anesi {

struct TabularMlpOptions {
  std::int64_t layers = 3, width = 200;
  double dropout = 0, doubt = 0;

  void describe(OptionTable& table) {
    table.add("layers", layers, {0, 16}, "hidden layers of perception");
    table.add("width", width, {1, 16384}, "units in each of them");
    table.add("dropout", dropout, {0, 0.99}, "of hidden units while learning");
    table.add("doubt", doubt, {0, 0.99},
              "share of the uniform belief in each belief: no value is ever ruled out, and none is certain");
  }
};

class TabularMlp final : public Perception {
 public:
  // Inputs [batch, inputs] to beliefs [batch, told + seen variables, largest domain]. First come the variables that
  // inputs tell, one of two values for each of these columns, which hold 0 or 1: of those it is certain.
  TabularMlp(std::int64_t inputs, const Space& seen, const TabularMlpOptions& options,
             const std::vector<std::int64_t>& told_columns = {});
  torch::Tensor forward(const torch::Tensor& inputs) override;

 private:
  Space seen_;
  double doubt_;
  torch::nn::Sequential network_;
  torch::Tensor told_columns_;  // int64
};

}  // namespace anesi
