#include "markov.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/models/markov_inference.h"
#include "anesi/options/value_named.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/fit_weights.h"
#include "anesi/train/formula_training.h"
#include "labels.h"
#include "python_function.h"

namespace anesi::python {
namespace {

using ReleasedHere = py::call_guard<py::gil_scoped_release, SignalsLetIn>;

// A weighted formula and a q of it, which is belief propagation until it learns.
class Markov {
 public:
  Markov(Wcnf formula, double seconds)
      : logic_(std::make_shared<const MarkovInference>(std::move(formula), seconds)),
        network_(soft_network({.width = 0, .cases = kCasesOfSoftClauses})) {}

  const MarkovInference& logic() const { return *logic_; }
  const std::shared_ptr<GraphNetwork>& network() const { return network_; }

  void learn(std::int64_t steps, std::int64_t worlds, std::uint64_t seed) {
    const SeededWeights seeded_weights(seed);
    const auto network = soft_network();
    train_on_soft_formulas(network, weights_of_one_formula(logic_), {.steps = steps, .worlds = worlds}, seed);
    network_ = network;
  }

  // Worlds as they come from outside. Throws UsageError where they are none.
  torch::Tensor checked(const torch::Tensor& worlds) const {
    const auto& space = logic_->worlds();
    auto rows = as_rows(worlds, worlds.dim() > 0 ? worlds.size(0) : 0, space.variables(), "worlds");
    check_values(rows, space, {}, "worlds");
    return rows;
  }

 private:
  std::shared_ptr<const MarkovInference> logic_;
  std::shared_ptr<GraphNetwork> network_;
};

std::shared_ptr<Markov> make_markov(const std::optional<std::string>& path, const std::string& text, double seconds) {
  const py::gil_scoped_release release;
  const SignalsLetIn signals;
  return std::make_shared<Markov>(path ? read_wcnf(*path) : parse_wcnf(text, "formula"), seconds);
}

py::dict fit_markov(const Markov& markov, const torch::Tensor& worlds, const std::optional<torch::Tensor>& beliefs,
                    const std::string& by, std::int64_t samples, double deviation, bool tied, std::uint64_t seed) {
  using namespace py::literals;
  const FitOptions options{
      .by = value_named<PartitionBy>("by", by), .samples = samples, .deviation = deviation, .tied = tied};
  FittedWeights fitted;
  {
    const py::gil_scoped_release release;
    const SignalsLetIn signals;
    fitted = fit_weights(markov.logic(), markov.checked(worlds), beliefs.value_or(torch::Tensor()), options, seed,
                         markov.network());
  }
  return py::dict("weights"_a = fitted.weights, "errors"_a = fitted.errors, "seen"_a = fitted.seen,
                  "log_likelihood"_a = fitted.log_likelihood, "steps"_a = fitted.steps,
                  "converged"_a = fitted.converged);
}

}  // namespace

void bind_markov(py::module_& module) {
  using torch::Tensor;
  py::class_<Markov, std::shared_ptr<Markov>>(module, "Markov")
      .def(py::init(&make_markov))
      .def_property_readonly("worlds", [](const Markov& markov) { return markov.logic().worlds().domains(); })
      .def_property_readonly("weights", [](const Markov& markov) { return markov.logic().weights(); })
      .def_property_readonly("exact", [](const Markov& markov) { return markov.logic().circuit() != nullptr; })
      .def_property_readonly("clauses",
                             [](const Markov& markov) {
                               std::vector<std::vector<int>> clauses;
                               for (const auto& soft : markov.logic().formula().soft) clauses.push_back(soft.literals);
                               return clauses;
                             })
      .def("learn", &Markov::learn, ReleasedHere())
      .def(
          "holds",
          [](const Markov& markov, const Tensor& worlds) { return markov.logic().holds(markov.checked(worlds)); },
          ReleasedHere())
      .def(
          "keeps",
          [](const Markov& markov, const Tensor& worlds) { return markov.logic().keeps(markov.checked(worlds)); },
          ReleasedHere())
      .def(
          "log_partition",
          [](const Markov& markov, const Tensor& logs, const Tensor& weights) {
            return markov.logic().exact().log_partition(LogBeliefs(logs), weights);
          },
          ReleasedHere())
      .def(
          "predicted",
          [](const Markov& markov, const Tensor& beliefs, const Tensor& weights) {
            return predicted_log_partition(markov.logic(), markov.network(), beliefs, weights);
          },
          ReleasedHere())
      .def(
          "estimate",
          [](const Markov& markov, const Tensor& beliefs, const Tensor& weights, std::int64_t samples,
             std::uint64_t seed) {
            const auto found =
                estimate_log_partition(markov.logic(), markov.network(), beliefs, weights, samples, seeded(seed));
            return std::make_tuple(found.log_prob, found.low, found.high, found.effective);
          },
          ReleasedHere())
      .def(
          "expected",
          [](const Markov& markov, const Tensor& logs, const Tensor& weights) {
            return markov.logic().exact().expected(LogBeliefs(logs), weights);
          },
          ReleasedHere())
      .def(
          "marginals",
          [](const Markov& markov, const Tensor& logs, const Tensor& weights) {
            return markov.logic().exact().marginals(LogBeliefs(logs), weights);
          },
          ReleasedHere())
      .def(
          "most_probable",
          [](const Markov& markov, const Tensor& logs, const Tensor& weights) {
            const auto found = markov.logic().exact().most_probable(LogBeliefs(logs), weights);
            return std::make_pair(found.worlds, found.log_prob);
          },
          ReleasedHere())
      .def(
          "sample",
          [](const Markov& markov, const Tensor& logs, const Tensor& weights, std::uint64_t seed) {
            return markov.logic().exact().sample(LogBeliefs(logs), weights, seeded(seed));
          },
          ReleasedHere())
      .def("fit", &fit_markov);
}

}  // namespace anesi::python
