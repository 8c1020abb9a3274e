#include "anesi/exact/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

// How a label's log-probability is made up of the back end's answers:
//   log p(w_S|P)                    where variables are known
//   + log p(y | P, S certain)       where an output is known, or of all others
//   - log p(y|P)                    of a whole world given its output
struct Kind {
  bool has_output = false, holds = true, has_world = false, conditional = false;
  bool operator==(const Kind&) const = default;
};

class Labels {
 public:
  Labels(const Backend& backend, LogBeliefRows logs, const LabelRows& labels, WholeWorlds whole)
      : backend_(backend), logs_(logs), labels_(labels), whole_(whole) {
    const auto fits = [&](const PointRows& rows, std::int64_t width, const char* what) {
      if (rows.width() == 0 || (rows.size() == logs.size && rows.width() == width)) return;
      throw Error(fmt::format("labels: {} of shape [{}, {}]; [{}, {}] is expected", what, rows.size(), rows.width(),
                              logs.size, width));
    };
    fits(labels.outputs, backend.outputs().variables(), "outputs");
    fits(labels.worlds, backend.worlds().variables(), "worlds");
    if (!labels.holds.empty() && std::ssize(labels.holds) != logs.size) {
      throw Error(fmt::format("labels: {} say whether they hold, of {}", labels.holds.size(), logs.size));
    }
    for (std::int64_t row = 0; row < labels.worlds.size(); ++row) {
      const auto world = labels.worlds[row];
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        const auto domain = backend.worlds().domain(static_cast<std::int64_t>(variable));
        if (world[variable] == kUnset || (world[variable] >= 0 && world[variable] < domain)) continue;
        throw Error(fmt::format("labels: world variable {} of example {} is {}; it has values 0 to {}", variable, row,
                                world[variable], domain - 1));
      }
    }
  }

  // Calls visit(kind, rows) for the rows of each kind.
  template <typename Visit>
  void for_each_kind(Visit visit) const {
    std::vector<std::pair<Kind, std::vector<std::int64_t>>> kinds;
    for (std::int64_t row = 0; row < logs_.size; ++row) {
      const auto kind = kind_of(row);
      auto found = std::ranges::find(kinds, kind, [](const auto& known) { return known.first; });
      if (found == kinds.end()) found = kinds.insert(found, {kind, {}});
      found->second.push_back(row);
    }
    for (const auto& [kind, rows] : kinds) visit(kind, rows);
  }

  Kind kind_of(std::int64_t row) const {
    Kind kind{.has_output = labels_.outputs.width() > 0, .holds = labels_.holds.empty() || labels_.holds[as_size(row)]};
    if (labels_.worlds.width() == 0) return kind;
    const auto world = labels_.worlds[row];
    const auto known = world.size() - as_size(std::ranges::count(world, kUnset));
    kind.has_world = known > 0;
    kind.conditional = kind.has_output && kind.holds && known == world.size() && whole_ == WholeWorlds::kGivenOutput;
    return kind;
  }

  // Beliefs and outputs of some rows, with known variables made certain where that is asked for.
  struct Asked {
    Asked(const Labels& all, const std::vector<std::int64_t>& rows, bool certain)
        : outputs(std::ssize(rows), all.labels_.outputs.width()), numbers(rows.size() * as_size(all.logs_.row_size())) {
      logs = {numbers.data(), std::ssize(rows), all.logs_.variables, all.logs_.width};
      for (std::int64_t place = 0; place < logs.size; ++place) {
        const auto row = rows[as_size(place)];
        std::copy_n(all.logs_.row(row), all.logs_.row_size(), logs.row(place));
        if (outputs.width() > 0) std::ranges::copy(all.labels_.outputs[row], outputs[place].begin());
        if (!certain) continue;
        all.for_each_known(row, [&](std::int64_t variable, std::int64_t value) {
          std::fill_n(&logs(place, variable, 0), logs.width, kLogOfZero);
          logs(place, variable, value) = 0;
        });
      }
    }
    Query query() const { return {logs, outputs}; }

    Points outputs;
    std::vector<double> numbers;
    GradientRows logs;
  };

  // Calls visit(variable, value) for the variables that a row's label knows.
  template <typename Visit>
  void for_each_known(std::int64_t row, Visit visit) const {
    const auto world = labels_.worlds[row];
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      if (world[variable] != kUnset) visit(static_cast<std::int64_t>(variable), world[variable]);
    }
  }

  // Whether all labels tell an output alone, and all of them that it holds or all that it does not: the back end can
  // then be asked about them as they are.
  bool are_outputs_alone() const {
    const auto is_unknown = [](std::int64_t value) { return value == kUnset; };
    return labels_.outputs.width() > 0 &&
           std::ranges::adjacent_find(labels_.holds, std::not_equal_to()) == labels_.holds.end() &&
           (labels_.worlds.width() == 0 || std::ranges::all_of(labels_.worlds.values(), is_unknown));
  }

  void log_prob(std::span<double> log_probs, GradientRows gradient) const {
    if (logs_.size > 0 && are_outputs_alone()) {
      const bool holds = labels_.holds.empty() || labels_.holds.front();
      const Query query{logs_, labels_.outputs};
      return holds ? backend_.log_prob(query, log_probs, gradient)
                   : backend_.log_prob_of_others(query, log_probs, gradient);
    }
    std::fill_n(gradient.data, gradient.empty() ? 0 : gradient.size * gradient.row_size(), 0.0);
    for_each_kind([&](const Kind& kind, const std::vector<std::int64_t>& rows) {
      std::vector<double> sums(rows.size(), 0), parts(rows.size());
      std::vector<double> slopes(gradient.empty() ? 0 : rows.size() * as_size(logs_.row_size()));
      const GradientRows slope(gradient.empty() ? nullptr : slopes.data(), std::ssize(rows), logs_.variables,
                               logs_.width);
      // Adds the back end's answers, and their derivative unless it is that by variables made certain.
      const auto add = [&](const Asked& asked, bool others, double sign) {
        if (others) {
          backend_.log_prob_of_others(asked.query(), parts, slope);
        } else {
          backend_.log_prob(asked.query(), parts, slope);
        }
        for (std::size_t place = 0; place < rows.size(); ++place) {
          if (sums[place] == kLogOfZero) continue;
          sums[place] = parts[place] == kLogOfZero ? kLogOfZero : sums[place] + sign * parts[place];
          if (gradient.empty()) continue;
          const auto* const from = slope.row(static_cast<std::int64_t>(place));
          auto* const to = gradient.row(rows[place]);
          for (std::int64_t entry = 0; entry < logs_.row_size(); ++entry) to[entry] += sign * from[entry];
        }
      };
      if (kind.has_output) add(Asked(*this, rows, kind.has_world), !kind.holds, 1);
      if (kind.has_world) {
        for (std::size_t place = 0; place < rows.size(); ++place) {
          for_each_known(rows[place], [&](std::int64_t variable, std::int64_t value) {
            sums[place] += logs_(rows[place], variable, value);
            if (gradient.empty()) return;
            std::fill_n(&gradient(rows[place], variable, 0), logs_.width, 0.0);
            gradient(rows[place], variable, value) = 1;
          });
        }
      }
      if (kind.conditional) add(Asked(*this, rows, false), false, -1);
      for (std::size_t place = 0; place < rows.size(); ++place) {
        log_probs[as_size(rows[place])] = sums[place];
        if (sums[place] == kLogOfZero && !gradient.empty()) {
          std::fill_n(gradient.row(rows[place]), logs_.row_size(), 0.0);
        }
      }
    });
  }

  void hessian_product(LogBeliefRows direction, GradientRows result) const {
    std::fill_n(result.data, result.size * result.row_size(), 0.0);
    std::vector<double> values(as_size(logs_.size));
    log_prob(values, {});
    for_each_kind([&](const Kind& kind, std::vector<std::int64_t> rows) {
      std::erase_if(rows, [&](std::int64_t row) { return values[as_size(row)] == kLogOfZero; });
      if (!kind.has_output || rows.empty()) return;
      const Asked asked(*this, rows, kind.has_world && !kind.conditional);
      Asked moved(*this, rows, false), product(*this, rows, false);
      for (std::int64_t place = 0; place < moved.logs.size; ++place) {
        std::copy_n(direction.row(rows[as_size(place)]), logs_.row_size(), moved.logs.row(place));
      }
      backend_.hessian_product(asked.query(), moved.logs, product.logs,
                               kind.holds ? Backend::Of::kOutput : Backend::Of::kOthers);
      for (std::int64_t place = 0; place < product.logs.size; ++place) {
        auto* const to = result.row(rows[as_size(place)]);
        const auto* const from = product.logs.row(place);
        for (std::int64_t entry = 0; entry < logs_.row_size(); ++entry)
          to[entry] = kind.conditional ? -from[entry] : from[entry];
      }
    });
  }

 private:
  const Backend& backend_;
  LogBeliefRows logs_;
  const LabelRows& labels_;
  WholeWorlds whole_;
};

}  // namespace

void label_log_prob(const Backend& backend, LogBeliefRows logs, const LabelRows& labels, std::span<double> log_probs,
                    GradientRows gradient, WholeWorlds whole) {
  Labels(backend, logs, labels, whole).log_prob(log_probs, gradient);
}

void label_hessian_product(const Backend& backend, LogBeliefRows logs, const LabelRows& labels, LogBeliefRows direction,
                           GradientRows result, WholeWorlds whole) {
  Labels(backend, logs, labels, whole).hessian_product(direction, result);
}

}  // namespace anesi
