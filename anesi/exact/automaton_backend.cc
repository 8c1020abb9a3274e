#include "anesi/exact/automaton_backend.h"

#include <algorithm>
#include <array>

#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/automaton_kernel.h"
#include "anesi/exact/automaton_row.h"
#include "anesi/exact/backends.h"
#include "anesi/exact/lanes.h"

namespace anesi {
namespace {

// Blocks of rows, and rows, that make it worth waking another thread: about a tenth of a millisecond of arithmetic.
std::int64_t grain(const AutomatonSteps& machine, double moves_for_each_thread) {
  double moves = 1;
  for (std::size_t step = 0; step < machine.steps().size(); ++step) {
    moves += static_cast<double>(machine.width(step) * machine.steps()[step].combinations);
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(moves_for_each_thread / moves));
}

class AutomatonBackend final : public Backend {
 public:
  explicit AutomatonBackend(AutomatonSteps machine)
      : Backend(machine.worlds(), machine.outputs()),
        machine_(std::move(machine)),
        kernel_(machine_),
        blocks_(grain(machine_, 1 << 16)),
        rows_(grain(machine_, 1 << 15)) {}

 private:
  AutomatonRow row(const Query& query, std::int64_t index) const {
    return {machine_, query.logs.row(index), query.logs.width, query.outputs[index]};
  }

  void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const override {
    const auto size = query.size();
    parallel_for((size + kLanes - 1) / kLanes, blocks_, [&](std::int64_t first, std::int64_t last) {
      AutomatonKernel::Room room(kernel_, machine_);
      std::array<bool, kLanes> lost{};
      for (auto begin = first * kLanes; begin < std::min(last * kLanes, size); begin += kLanes) {
        const auto end = std::min(begin + kLanes, size);
        kernel_.run(machine_, query.slice(begin, end), log_probs.subspan(as_size(begin), as_size(end - begin)),
                    gradient.slice(begin, end), lost, room);
        for (auto index = begin; index < end; ++index) {
          if (!lost[as_size(index - begin)]) continue;
          auto* const slope = gradient.empty() ? nullptr : gradient.row(index);
          if (slope != nullptr) std::fill_n(slope, gradient.row_size(), 0.0);
          log_probs[as_size(index)] = row(query, index).log_prob(slope);
        }
      }
    });
  }

  void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const override {
    parallel_for(query.size(), rows_, [&](std::int64_t begin, std::int64_t end) {
      for (auto index = begin; index < end; ++index) {
        log_probs[as_size(index)] = row(query, index).most_probable(worlds[index]);
      }
    });
  }

  void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const override {
    parallel_for(query.size(), rows_, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> shares(as_size(query.logs.row_size()));
      for (auto index = begin; index < end; ++index) {
        auto example = row(query, index);
        example.find_shares(shares.data());
        example.shares = shares.data();
        example.sample(randoms[as_size(index)], worlds[index]);
      }
    });
  }

  AutomatonSteps machine_;
  AutomatonKernel kernel_;
  std::int64_t blocks_, rows_;
};

std::optional<BackendCost> applies(const Problem& problem, const ExactOptions&) {
  const auto automaton = problem.facts().share<Automaton>();
  if (!automaton) return std::nullopt;
  double moves = 0;
  for (std::size_t step = 0; step < automaton->reading().steps().size(); ++step) {
    const auto kind = automaton->reading().steps()[step].kind;
    moves += static_cast<double>(automaton->widths()[step] * automaton->reading().kind(kind).combinations());
  }
  return BackendCost{.operations = moves, .bytes = 100 * moves};
}

[[maybe_unused]] const bool registered = backends().add(
    "automaton",
    {.summary = "the problem's automaton", .applies = applies, .make = [](const Problem& problem, const ExactOptions&) {
       return make_automaton_backend(problem.facts().share<Automaton>());
     }});

}  // namespace

std::unique_ptr<Backend> make_automaton_backend(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<AutomatonBackend>(AutomatonSteps(std::move(automaton)));
}

}  // namespace anesi
