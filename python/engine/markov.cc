// Weighted formulas (Markov logic): by a circuit if the formula compiles, and by belief propagation.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/exact/belief_propagation.h"
#include "anesi/formula/markov_logic.h"
#include "anesi/logic/soft_circuit.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

class Markov {
 public:
  Markov(Wcnf formula, double seconds) : logic_(std::move(formula), seconds), propagation_(logic_.graph()) {
    if (seconds <= 0) return;
    try {
      circuit_.emplace(*logic_.hard().facts().find<Cnf>(), logic_.formula().soft, seconds);
    } catch (const Error& error) {
      why_not_ = error.what();  // it does not compile in time
    }
  }

  const MarkovLogic& logic() const { return logic_; }
  const BeliefPropagation& propagation() const { return propagation_; }
  bool exact() const { return circuit_.has_value(); }
  const SoftCircuit& circuit() const {
    if (!circuit_) {
      throw Error("markov logic: the formula did not compile, so nothing of it is known exactly: " + why_not_);
    }
    return *circuit_;
  }

 private:
  MarkovLogic logic_;
  BeliefPropagation propagation_;
  std::optional<SoftCircuit> circuit_;
  std::string why_not_ = "seconds=0";
};

// Beliefs and weights of a call, checked: one row of weights, or one for each row of beliefs.
struct Asked {
  Asked(const Markov& markov, const Reads<double>& logs, const Reads<double>& of_weights)
      : beliefs(beliefs_of(logs, markov.logic().worlds(), "logs")) {
    const auto clauses = markov.logic().clauses();
    const bool is_row = of_weights.ndim() == 1;
    const auto rows = is_row || of_weights.ndim() == 0 ? 1 : static_cast<std::int64_t>(of_weights.shape(0));
    const bool fits = of_weights.ndim() >= 1 && of_weights.ndim() <= 2 &&
                      static_cast<std::int64_t>(of_weights.shape(of_weights.ndim() - 1)) == clauses &&
                      (rows == 1 || rows == beliefs.size);
    require_shape(fits, "weights", shape_of(of_weights), fmt::format("({})", clauses));
    weights = {of_weights.data(), rows, clauses};
  }
  SoftCircuit::Query query() const { return {{beliefs.data, beliefs.size, beliefs.row_size()}, weights}; }

  LogBeliefRows beliefs;
  Rows<const double> weights;
};

// An array of the caller's, as rows; none if there is no array.
Rows<double> rows_to_write(const std::optional<Writes<double>>& array, std::int64_t size, std::int64_t width,
                           const char* name) {
  if (!array) return {};
  require_shape(static_cast<std::int64_t>(array->size()) == size * width, name, shape_of(*array),
                fmt::format("({}, {})", size, width));
  return {array->data(), size, width};
}

void log_partition(const Markov& markov, const Reads<double>& logs, const Reads<double>& weights,
                   const Writes<double>& log_partitions, const std::optional<Writes<double>>& by_beliefs,
                   const std::optional<Writes<double>>& by_weights, std::int64_t threads) {
  compute(threads, [&] {
    const Asked asked(markov, logs, weights);
    const auto size = asked.beliefs.size;
    markov.circuit().log_partition(asked.query(), numbers_of(log_partitions, size, "log_partitions"),
                                   rows_to_write(by_beliefs, size, asked.beliefs.row_size(), "by_beliefs"),
                                   rows_to_write(by_weights, size, asked.weights.width(), "by_weights"));
  });
}

void propagated(const Markov& markov, const Reads<double>& logs, const Reads<double>& weights,
                const Writes<double>& log_partitions, const std::optional<Writes<double>>& by_beliefs,
                const std::optional<Writes<double>>& by_weights, std::int64_t threads) {
  compute(threads, [&] {
    const Asked asked(markov, logs, weights);
    const auto size = asked.beliefs.size;
    if (asked.weights.size() != 1) throw UsageError("weights: one row for all beliefs is expected");
    const auto slopes = by_beliefs ? gradient_of(*by_beliefs, asked.beliefs, "by_beliefs") : GradientRows();
    markov.propagation().log_count(asked.beliefs, asked.weights[0], numbers_of(log_partitions, size, "log_partitions"),
                                   slopes, rows_to_write(by_weights, size, asked.weights.width(), "by_weights"));
  });
}

void covariance(const Markov& markov, const Reads<double>& logs, const Reads<double>& weights,
                const Writes<double>& covariances, std::int64_t threads) {
  compute(threads, [&] {
    const Asked asked(markov, logs, weights);
    const auto clauses = asked.weights.width();
    markov.circuit().covariance(asked.query(),
                                rows_to_write(covariances, asked.beliefs.size, clauses * clauses, "covariances"));
  });
}

void most_probable(const Markov& markov, const Reads<double>& logs, const Reads<double>& weights,
                   const Writes<std::int64_t>& worlds, const Writes<double>& log_probs, std::int64_t threads) {
  compute(threads, [&] {
    const Asked asked(markov, logs, weights);
    const auto size = asked.beliefs.size;
    markov.circuit().most_probable(asked.query(), rows_of(worlds, size, markov.logic().worlds().variables(), "worlds"),
                                   numbers_of(log_probs, size, "log_probs"));
  });
}

void sample(const Markov& markov, const Reads<double>& logs, const Reads<double>& weights,
            const Writes<std::int64_t>& worlds, std::uint64_t seed, std::int64_t threads) {
  compute(threads, [&] {
    const Asked asked(markov, logs, weights);
    Random random(seed);
    markov.circuit().sample(asked.query(), random,
                            rows_of(worlds, asked.beliefs.size, markov.logic().worlds().variables(), "worlds"));
  });
}

PointRows checked_worlds(const Markov& markov, const Reads<std::int64_t>& worlds) {
  const auto& space = markov.logic().worlds();
  const auto rows = rows_of(worlds, space.variables(), "worlds");
  check_values(rows, space, {}, "worlds");
  return rows;
}

void construct(Markov* self, const std::optional<std::string>& path, const std::string& text, double seconds) {
  compute(0, [&] { new (self) Markov(path ? read_wcnf(*path) : parse_wcnf(text, "formula"), seconds); });
}

}  // namespace

void bind_markov(nb::module_& module) {
  const auto numbers = [] { return nb::arg("logs").noconvert(); };
  const auto weights = [] { return nb::arg("weights").noconvert(); };
  const auto threads = [] { return nb::arg("threads") = 0; };
  nb::class_<Markov>(module, "Markov")
      .def("__init__", &construct, nb::arg("path"), nb::arg("text"), nb::arg("seconds"))
      .def_prop_ro("worlds", [](const Markov& markov) { return markov.logic().worlds().domains(); })
      .def_prop_ro("exact", &Markov::exact)
      .def_prop_ro("weights",
                   [](const Markov& markov) {
                     std::vector<double> told;
                     for (const auto& soft : markov.logic().formula().soft) told.push_back(soft.weight);
                     return told;
                   })
      .def_prop_ro("clauses",
                   [](const Markov& markov) {
                     std::vector<std::vector<int>> clauses;
                     for (const auto& soft : markov.logic().formula().soft) clauses.push_back(soft.literals);
                     return clauses;
                   })
      .def_prop_ro("propagation_is_exact", [](const Markov& markov) { return markov.propagation().is_exact(); })
      .def(
          "holds",
          [](const Markov& markov, const Reads<std::int64_t>& worlds) {
            const auto found = compute(0, [&] { return markov.logic().holds(checked_worlds(markov, worlds)); });
            return give(found);
          },
          nb::arg("worlds"))
      .def(
          "keeps",
          [](const Markov& markov, const Reads<std::int64_t>& worlds) {
            const auto found = compute(0, [&] { return apply(markov.logic().hard(), checked_worlds(markov, worlds)); });
            return give(found);
          },
          nb::arg("worlds"))
      .def("log_partition", &log_partition, numbers(), weights(), nb::arg("log_partitions").noconvert(),
           nb::arg("by_beliefs").noconvert().none() = nb::none(), nb::arg("by_weights").noconvert().none() = nb::none(),
           threads())
      .def("propagated", &propagated, numbers(), weights(), nb::arg("log_partitions").noconvert(),
           nb::arg("by_beliefs").noconvert().none() = nb::none(), nb::arg("by_weights").noconvert().none() = nb::none(),
           threads())
      .def("covariance", &covariance, numbers(), weights(), nb::arg("covariances").noconvert(), threads())
      .def("most_probable", &most_probable, numbers(), weights(), nb::arg("worlds").noconvert(),
           nb::arg("log_probs").noconvert(), threads())
      .def("sample", &sample, numbers(), weights(), nb::arg("worlds").noconvert(), nb::arg("seed"), threads());
}

}  // namespace anesi::python
