// What training works on: a perception, what it is to learn through, and examples.
//
//   Learner learner(problem, [] { return std::make_shared<Sensor>(); }, tensor_examples(readings, alarms), /*seed=*/1);
//   learner.learn_through("transducer");
//   train(learner, {.epochs = 20});
//   const Predictor predictor = learner.predictor();
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/optimize/adam.h"
#include "anesi/perception/perception.h"
#include "anesi/predict/predictor.h"
#include "anesi/predict/saved_model.h"
#include "anesi/tensors/examples.h"
#include "anesi/train/explained_labels.h"
#include "anesi/train/knowledge.h"
#include "anesi/train/pieces.h"

namespace anesi {

struct Learner : Knowledge {
  // The seed decides every draw: perception's weights, the order of examples, what q learns from. make_perception makes
  // fresh ones, whose weights it takes from torch's generator; `training` may have labels of any kind.
  Learner(std::shared_ptr<const Problem> problem, MakePerception make_perception,
          std::shared_ptr<const Examples> training, std::uint64_t seed = 0);

  MakePerception make_perception;
  std::shared_ptr<const Examples> training;

  std::shared_ptr<const Examples> held_out;  // what is evaluated on while training; null: nothing
  std::string held_out_name = "validation";
  Decide decide = Decide::kSymbolic;  // what counts as accuracy there

  std::optional<Pieces> pieces;  // what training looks at instead of whole examples
  torch::Tensor rows;            // of `training` that perception learns from, int64; usual_phases() sets them
  double weight_decay = 0;       // of perception
  // Inputs changed in ways that leave their worlds as they are, reproducible by the generator; empty: none are known.
  std::function<torch::Tensor(const torch::Tensor& inputs, at::Generator generator)> augment;

  std::shared_ptr<Perception> perception;    // made from the seed
  std::shared_ptr<Perception> refined;       // null until a phase refines it
  std::vector<Adam> optimizers;              // of perception, one for each loss that it steps by in turn
  std::optional<ExplainedLabels> explained;  // training labels, once a phase explained them
  bool beliefs_checked = false;              // a perception that does not fit its problem is found at the first step
  std::int64_t restarts = 0;                 // how often perception began anew because its explanations were unlikely

  // Refined, once that has begun.
  std::shared_ptr<Perception> current_perception() const { return refined ? refined : perception; }

  // The problem that shown() shows examples of.
  const Problem& shown_problem() const { return pieces ? *pieces->problem : *problem; }
  // Training examples as perception is to see them: themselves, or pieces of them.
  Batch shown(const torch::Tensor& rows, at::Generator generator) const;
  // Beliefs in all variables of shown_problem(): what perception says of a batch, and what its inputs tell besides.
  torch::Tensor complete(const torch::Tensor& beliefs, const Batch& batch) const;
  // As many random rows as a batch has.
  torch::Tensor draw_rows(std::int64_t batch) const;

  // Gives perception fresh weights from a seed, or these, and fresh optimisers.
  void begin_anew(std::uint64_t weights_seed);
  void take_weights(const NamedTensors& weights);
  void make_optimizers();

  // What was trained so far. Its networks are the learner's: make another once training went on.
  Predictor predictor(const PredictorOptions& options = {}) const;
  // On what is held out, greedily; empty where nothing is.
  std::optional<Evaluation> evaluate() const;
};

}  // namespace anesi
