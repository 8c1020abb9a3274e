#include "estimator.h"

#include "anesi/core/error.h"
#include "anesi/estimate/estimator.h"
#include "anesi/estimate/learned.h"
#include "anesi/tensors/seeded.h"
#include "python_function.h"
#include "without_autocast.h"

namespace anesi::python {
namespace {

using MaybeParameters = std::optional<torch::Tensor>;

Parameters parameters_of(const MaybeParameters& beliefs, const MaybeParameters& mean,
                         const MaybeParameters& deviation) {
  return {beliefs.value_or(torch::Tensor()), mean.value_or(torch::Tensor()), deviation.value_or(torch::Tensor())};
}

// What the function raises is told by itself: Python knows more of it than a line, and names z.
Outcomes python_outcomes(py::object ask) {
  return [ask = PythonFunction(std::move(ask))](const Draws& draws) {
    const py::gil_scoped_acquire lock;
    try {
      return ask(draws.discrete, draws.real).cast<torch::Tensor>();
    } catch (const py::error_already_set&) {
      throw PassedOn{std::current_exception()};
    }
  };
}

std::shared_ptr<Estimator> make(const std::string& name, py::object ask, const std::vector<std::int64_t>& categoricals,
                                std::int64_t normals, std::int64_t outcomes, const std::vector<std::string>& settings,
                                std::uint64_t seed) {
  const Sources sources{.categoricals = Space(categoricals), .normals = normals};
  const auto g = std::make_shared<BlackBox>(python_outcomes(std::move(ask)), outcomes);
  const py::gil_scoped_release release;
  const SeededWeights weights(seed);
  return make_estimator(name, {sources, g, seeded(seed)}, settings);
}

}  // namespace

void bind_estimators(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const PassedOn& passed) {
      try {
        std::rethrow_exception(passed.error);
      } catch (py::error_already_set& error) {
        error.restore();
      }
    }
  });
  py::class_<Estimator, std::shared_ptr<Estimator>>(module, "Estimator")
      .def(py::init(&make))
      .def_property_readonly("calls", &Estimator::calls)
      .def_property_readonly("learns", &Estimator::learns)
      .def("state", &Estimator::state, Released())
      .def("load_state", &Estimator::load_state, Released())
      .def(
          "expectation",
          [](Estimator& estimator, const MaybeParameters& beliefs, const MaybeParameters& mean,
             const MaybeParameters& deviation) {
            const WithoutAutocast full_precision;
            return estimator.expectation(parameters_of(beliefs, mean, deviation));
          },
          Released())
      .def(
          "learn",
          [](Estimator& estimator, const MaybeParameters& beliefs, const MaybeParameters& mean,
             const MaybeParameters& deviation) {
            const WithoutAutocast full_precision;
            return estimator.learn(parameters_of(beliefs, mean, deviation));
          },
          Released())
      .def(
          "bound",
          [](Estimator& estimator, const MaybeParameters& beliefs, const MaybeParameters& mean,
             const MaybeParameters& deviation, std::int64_t samples) {
            auto* const learned = dynamic_cast<LearnedEstimator*>(&estimator);
            if (learned == nullptr) throw UsageError("bound: only the estimator anesi has one");
            const auto found = learned->bound(parameters_of(beliefs, mean, deviation), samples);
            return std::make_tuple(found.mean, found.margin);
          },
          Released());
  module.def("estimator_names", [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (const auto& [name, entry] : estimators().all()) names.emplace_back(name, entry.summary);
    return names;
  });
}

}  // namespace anesi::python
