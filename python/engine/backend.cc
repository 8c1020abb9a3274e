// Exact inference: a back end, and every query of it. Answers are written into the caller's arrays.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/exact/backends.h"
#include "anesi/exact/logits.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Whole = Reads<std::int64_t>;

struct HeldBackend {
  std::string name, why_not;
  std::shared_ptr<const Backend> backend;
};

ExactOptions options_from(const std::vector<std::string>& settings) {
  ExactOptions options;
  OptionTable table;
  table.add_group("exact", options);
  for (const auto& setting : settings) table.set(std::string_view(setting));
  return options;
}

HeldBackend choose(const HeldProblem& held, const std::vector<std::string>& settings, std::int64_t threads) {
  const auto options = options_from(settings);
  auto chosen = compute(threads, [&] { return choose_backend(*held.problem, options); });
  if (!chosen.backend) throw Error(chosen.why_not);
  return {std::move(chosen.name), std::move(chosen.why_not), std::move(chosen.backend)};
}

// Labels as they come from Python: in worlds -1 stands for a variable that is not known.
struct Labels {
  std::optional<Whole> outputs;
  std::optional<Reads<bool>> holds;
  std::optional<Whole> worlds;
  bool joint = false;

  WholeWorlds whole() const { return joint ? WholeWorlds::kJoint : WholeWorlds::kGivenOutput; }
};

// The same, checked. The variables of `worlds` are those after the first `given`.
class CheckedLabels {
 public:
  CheckedLabels(const Backend& backend, const Labels& labels, std::int64_t size, std::int64_t given) {
    const auto require_size = [&](std::int64_t rows, const char* name) {
      if (rows != size) throw UsageError(fmt::format("{}: {} rows for {} examples", name, rows, size));
    };
    if (!labels.outputs && !labels.worlds) throw UsageError("a label is missing: outputs, worlds or both");
    if (labels.outputs) {
      rows_.outputs = rows_of(*labels.outputs, backend.outputs().variables(), "outputs");
      require_size(rows_.outputs.size(), "outputs");
      check_values(rows_.outputs, backend.outputs(), {.end = backend.has_outputs_that_end(), .unset = true}, "outputs");
    }
    if (labels.holds) {
      if (!labels.outputs) throw UsageError("holds: it says whether outputs hold, and there are none");
      if (labels.holds->ndim() != 1)
        throw UsageError(fmt::format("holds: shape {}, expected ({})", shape_of(*labels.holds), size));
      rows_.holds = {labels.holds->data(), labels.holds->size()};
      require_size(std::ssize(rows_.holds), "holds");
    }
    if (labels.worlds) {
      const auto& domains = backend.worlds().domains();
      const Space seen(std::vector<std::int64_t>(domains.begin() + given, domains.end()));
      known_ = Points(rows_of(*labels.worlds, seen.variables(), "worlds"));
      require_size(known_.size(), "worlds");
      for (auto& value : known_.rows().values()) value = value == kNone ? kUnset : value;
      check_values(known_, seen, {.unset = true}, "worlds");
      rows_.worlds = known_;
    }
  }
  CheckedLabels(const CheckedLabels&) = delete;
  CheckedLabels& operator=(const CheckedLabels&) = delete;

  const LabelRows& rows() const { return rows_; }

 private:
  LabelRows rows_;
  Points known_;
};

// Logits in 32 or 64 bits, and what is given besides.
template <typename Real>
LogitRows<Real> logit_rows(const Backend& backend, const AnyReads& logits, const std::optional<Whole>& given) {
  const auto& domains = backend.worlds().domains();
  const auto count = given && given->ndim() == 2 ? std::min(given->shape(1), domains.size() - 1) : 0;
  const auto variables = domains.size() - count;
  const auto widest = *std::max_element(domains.begin() + static_cast<std::ptrdiff_t>(count), domains.end());
  require_shape(
      logits.ndim() == 3 && logits.shape(1) == variables && static_cast<std::int64_t>(logits.shape(2)) == widest,
      "logits", shape_of(logits), fmt::format("(batch, {}, {})", variables, widest));
  LogitRows<Real> rows{.logits = {static_cast<const Real*>(logits.data()), static_cast<std::int64_t>(logits.shape(0)),
                                  static_cast<std::int64_t>(variables), widest}};
  if (given) rows.given = rows_of(*given, static_cast<std::int64_t>(count), "given");
  return rows;
}

template <typename Real>
ValuesOfBeliefs<Real> like(const std::optional<AnyWrites>& gradient, const AnyReads& logits) {
  if (!gradient) return {};
  const auto shape = [](const auto& array) { return std::array{array.shape(0), array.shape(1), array.shape(2)}; };
  if (gradient->dtype() != logits.dtype() || gradient->ndim() != 3 || shape(*gradient) != shape(logits)) {
    throw UsageError("gradient: its type or shape is not that of logits");
  }
  const auto [size, variables, width] = shape(logits);
  return {static_cast<Real*>(gradient->data()), static_cast<std::int64_t>(size), static_cast<std::int64_t>(variables),
          static_cast<std::int64_t>(width)};
}

template <typename Real>
std::span<Real> numbers_like(const AnyWrites& array, const AnyReads& logits, std::int64_t size, const char* name) {
  if (array.dtype() != logits.dtype() || static_cast<std::int64_t>(array.size()) != size) {
    throw UsageError(fmt::format("{}: its type or shape does not fit logits", name));
  }
  return {static_cast<Real*>(array.data()), as_size(size)};
}

// Calls body(Real()) with the type of the logits.
template <typename Body>
auto with_type_of(const AnyReads& logits, Body body) {
  if (logits.dtype() == nb::dtype<float>()) return body(float());
  if (logits.dtype() == nb::dtype<double>()) return body(double());
  throw UsageError("logits: numbers of 32 or 64 bits are expected");
}

// Logits in, log-probabilities and the gradient by the logits out.
void log_prob_of_logits(const HeldBackend& held, const AnyReads& logits, const AnyWrites& log_probs,
                        const std::optional<AnyWrites>& gradient, const std::optional<Whole>& given,
                        const std::optional<Whole>& outputs, const std::optional<Reads<bool>>& holds,
                        const std::optional<Whole>& worlds, bool joint, std::int64_t threads) {
  const Labels labels{outputs, holds, worlds, joint};
  compute(threads, [&] {
    with_type_of(logits, [&]<typename Real>(Real) {
      const auto rows = logit_rows<Real>(*held.backend, logits, given);
      const CheckedLabels checked(*held.backend, labels, rows.logits.size, rows.given.width());
      const auto found = numbers_like<Real>(log_probs, logits, rows.logits.size, "log_probs");
      label_log_prob<Real>(*held.backend, rows, checked.rows(), found, like<Real>(gradient, logits), labels.whole());
    });
  });
}

// Minus the mean of the log-probabilities, and the gradient of that. The first example whose label is impossible, or
// -1.
std::int64_t loss_of_logits(const HeldBackend& held, const AnyReads& logits, const AnyWrites& loss,
                            const std::optional<AnyWrites>& gradient, const std::optional<Whole>& given,
                            const std::optional<Whole>& outputs, const std::optional<Reads<bool>>& holds,
                            const std::optional<Whole>& worlds, bool joint, std::int64_t threads) {
  const Labels labels{outputs, holds, worlds, joint};
  return compute(threads, [&] {
    return with_type_of(logits, [&]<typename Real>(Real) -> std::int64_t {
      const auto rows = logit_rows<Real>(*held.backend, logits, given);
      const auto size = rows.logits.size;
      const CheckedLabels checked(*held.backend, labels, size, rows.given.width());
      const auto mean = numbers_like<Real>(loss, logits, 1, "loss");
      const auto slopes = like<Real>(gradient, logits);
      std::vector<Real> found(as_size(size));
      label_log_prob<Real>(*held.backend, rows, checked.rows(), found, slopes, labels.whole());
      mean[0] = static_cast<Real>(-std::accumulate(found.begin(), found.end(), 0.0) / static_cast<double>(size));
      const auto scale = static_cast<Real>(-1.0 / static_cast<double>(size));
      const auto count = slopes.empty() ? 0 : slopes.size * slopes.row_size();
      for (std::int64_t place = 0; place < count; ++place) slopes.data[place] *= scale;
      const auto impossible = std::ranges::find(found, -std::numeric_limits<Real>::infinity());
      return impossible == found.end() ? -1 : impossible - found.begin();
    });
  });
}

void log_prob(const HeldBackend& held, const Reads<double>& logs, const Writes<double>& log_probs,
              const std::optional<Writes<double>>& gradient, const std::optional<Whole>& outputs,
              const std::optional<Reads<bool>>& holds, const std::optional<Whole>& worlds, bool joint,
              std::int64_t threads) {
  const auto& backend = *held.backend;
  const auto rows = beliefs_of(logs, backend.worlds(), "logs");
  const auto slopes = gradient ? gradient_of(*gradient, rows, "gradient") : GradientRows();
  const Labels labels{outputs, holds, worlds, joint};
  compute(threads, [&] {
    const CheckedLabels checked(backend, labels, rows.size, 0);
    label_log_prob(backend, rows, checked.rows(), numbers_of(log_probs, rows.size, "log_probs"), slopes,
                   labels.whole());
  });
}

void hessian_product(const HeldBackend& held, const Reads<double>& logs, const Reads<double>& direction,
                     const Writes<double>& result, const std::optional<Whole>& outputs,
                     const std::optional<Reads<bool>>& holds, const std::optional<Whole>& worlds, bool joint,
                     std::int64_t threads) {
  const auto& backend = *held.backend;
  const auto rows = beliefs_of(logs, backend.worlds(), "logs");
  const auto along = beliefs_of(direction, backend.worlds(), "direction");
  require_shape(along.size == rows.size, "direction", shape_of(direction), shape_of(logs));
  const auto products = gradient_of(result, rows, "result");
  const Labels labels{outputs, holds, worlds, joint};
  compute(threads, [&] {
    const CheckedLabels checked(backend, labels, rows.size, 0);
    label_hessian_product(backend, rows, checked.rows(), along, products, labels.whole());
  });
}

// Beliefs with an output for each row, as the other queries take them.
class CheckedQuery {
 public:
  CheckedQuery(const Backend& backend, const Reads<double>& logs, const Whole& outputs)
      : logs_(beliefs_of(logs, backend.worlds(), "logs")),
        checked_(backend, {.outputs = outputs, .holds = {}, .worlds = {}}, logs_.size, 0) {}
  Query query() const { return {logs_, checked_.rows().outputs}; }
  std::int64_t size() const { return logs_.size; }

 private:
  LogBeliefRows logs_;
  CheckedLabels checked_;
};

void most_probable(const HeldBackend& held, const Reads<double>& logs, const Whole& outputs,
                   const Writes<std::int64_t>& worlds, const Writes<double>& log_probs, std::int64_t threads) {
  compute(threads, [&] {
    const auto& backend = *held.backend;
    const CheckedQuery asked(backend, logs, outputs);
    const auto found = rows_of(worlds, asked.size(), backend.worlds().variables(), "worlds");
    const auto sure = numbers_of(log_probs, asked.size(), "log_probs");
    backend.most_probable(asked.query(), found, sure);
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      if (sure[as_size(row)] == kLogOfZero) std::ranges::fill(found[row], kUnset);
    }
  });
}

// (values [batch, found, variables], log_probs [batch, found], proven [batch]); where a row has fewer, kUnset and -inf.
using Ranked = std::tuple<Gives<std::int64_t>, Gives<double>, nb::list>;
Ranked ranked(const std::vector<RankedPoints>& rows, std::int64_t variables) {
  std::int64_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.points.size());
  std::vector<std::int64_t> values(rows.size() * as_size(most * variables), kUnset);
  std::vector<double> log_probs(rows.size() * as_size(most), kLogOfZero);
  nb::list proven;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto first = static_cast<std::ptrdiff_t>(row) * most;
    std::ranges::copy(rows[row].points.values(), values.begin() + first * variables);
    std::ranges::copy(rows[row].log_probs, log_probs.begin() + first);
    proven.append(rows[row].proven);
  }
  return {give(std::move(values), {rows.size(), as_size(most), as_size(variables)}),
          give(std::move(log_probs), {rows.size(), as_size(most)}), proven};
}

void require_some(std::int64_t top) {
  if (top < 1) throw UsageError(fmt::format("top: at least 1 is expected, not {}", top));
}

Ranked ranked_worlds(const HeldBackend& held, const Reads<double>& logs, const Whole& outputs, std::int64_t top,
                     std::int64_t threads) {
  require_some(top);
  const auto& backend = *held.backend;
  const auto rows =
      compute(threads, [&] { return backend.ranked_worlds(CheckedQuery(backend, logs, outputs).query(), top); });
  return ranked(rows, backend.worlds().variables());
}

Ranked ranked_outputs(const HeldBackend& held, const Reads<double>& logs, std::int64_t top, std::int64_t threads) {
  require_some(top);
  const auto& backend = *held.backend;
  const auto rows =
      compute(threads, [&] { return backend.ranked_outputs(beliefs_of(logs, backend.worlds(), "logs"), top); });
  return ranked(rows, backend.outputs().variables());
}

void sample(const HeldBackend& held, const Reads<double>& logs, const Whole& outputs,
            const Writes<std::int64_t>& worlds, std::uint64_t seed, std::int64_t threads) {
  compute(threads, [&] {
    const auto& backend = *held.backend;
    const CheckedQuery asked(backend, logs, outputs);
    Random random(seed);
    backend.sample(asked.query(), random, rows_of(worlds, asked.size(), backend.worlds().variables(), "worlds"));
  });
}

void entropy(const HeldBackend& held, const Reads<double>& logs, const Whole& outputs, const Writes<double>& entropies,
             const std::optional<Writes<double>>& gradient, std::int64_t threads) {
  compute(threads, [&] {
    const CheckedQuery asked(*held.backend, logs, outputs);
    const auto query = asked.query();
    const auto slopes = gradient ? gradient_of(*gradient, query.logs, "gradient") : GradientRows();
    held.backend->entropy(query, numbers_of(entropies, asked.size(), "entropies"), slopes);
  });
}

std::vector<std::pair<std::string, std::string>> backend_names() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, entry] : backends().all()) names.emplace_back(name, entry.summary);
  return names;
}

}  // namespace

void bind_backend(nb::module_& module) {
  const auto labels = [](auto& of, const char* name, auto function, auto... arrays) {
    of.def(name, function, arrays..., nb::kw_only(), nb::arg("outputs") = nb::none(), nb::arg("holds") = nb::none(),
           nb::arg("worlds") = nb::none(), nb::arg("joint") = false, nb::arg("threads") = 0);
  };
  nb::class_<HeldBackend> backend(module, "Backend");
  backend
      .def(
          "__init__",
          [](HeldBackend* self, const HeldProblem& problem, const std::vector<std::string>& settings,
             std::int64_t threads) { new (self) HeldBackend(choose(problem, settings, threads)); },
          nb::arg("problem"), nb::kw_only(), nb::arg("settings") = std::vector<std::string>(), nb::arg("threads") = 0)
      .def_ro("name", &HeldBackend::name)
      .def_ro("why_not", &HeldBackend::why_not)
      .def_prop_ro("worlds", [](const HeldBackend& held) { return held.backend->worlds().domains(); })
      .def_prop_ro("outputs", [](const HeldBackend& held) { return held.backend->outputs().domains(); })
      .def_prop_ro("exact", [](const HeldBackend& held) { return held.backend->is_exact(); })
      .def_prop_ro("lists_worlds", [](const HeldBackend& held) { return held.backend->lists_worlds(); })
      .def_prop_ro("outputs_end", [](const HeldBackend& held) { return held.backend->has_outputs_that_end(); });
  const auto of_logits = [&](const char* name, auto function, const char* answer) {
    backend.def(name, function, nb::arg("logits").noconvert(), nb::arg(answer).noconvert(),
                nb::arg("gradient").noconvert().none() = nb::none(), nb::arg("given") = nb::none(),
                nb::arg("outputs") = nb::none(), nb::arg("holds") = nb::none(), nb::arg("worlds") = nb::none(),
                nb::arg("joint") = false, nb::arg("threads") = 0);
  };
  of_logits("log_prob_of_logits", &log_prob_of_logits, "log_probs");
  of_logits("loss_of_logits", &loss_of_logits, "loss");
  labels(backend, "log_prob", &log_prob, nb::arg("logs").noconvert(), nb::arg("log_probs").noconvert(),
         nb::arg("gradient").noconvert().none() = nb::none());
  labels(backend, "hessian_product", &hessian_product, nb::arg("logs").noconvert(), nb::arg("direction").noconvert(),
         nb::arg("result").noconvert());
  backend
      .def("most_probable", &most_probable, nb::arg("logs").noconvert(), nb::arg("outputs"),
           nb::arg("worlds").noconvert(), nb::arg("log_probs").noconvert(), nb::arg("threads") = 0)
      .def("ranked_worlds", &ranked_worlds, nb::arg("logs").noconvert(), nb::arg("outputs"), nb::arg("top"),
           nb::arg("threads") = 0)
      .def("ranked_outputs", &ranked_outputs, nb::arg("logs").noconvert(), nb::arg("top"), nb::arg("threads") = 0)
      .def("sample", &sample, nb::arg("logs").noconvert(), nb::arg("outputs"), nb::arg("worlds").noconvert(),
           nb::arg("seed"), nb::arg("threads") = 0)
      .def("entropy", &entropy, nb::arg("logs").noconvert(), nb::arg("outputs"), nb::arg("entropies").noconvert(),
           nb::arg("gradient").noconvert().none() = nb::none(), nb::arg("threads") = 0);
  module.def("backend_names", &backend_names);
}

}  // namespace anesi::python
