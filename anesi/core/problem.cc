#include "anesi/core/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// Below this many rows the threads cost more than they bring, even for the cheapest c worth batching.
constexpr std::int64_t kRowsPerThread = 256;

void check_output(const Problem& problem, Values world, Values output) {
  if (const auto complaint = problem.outputs().complaint(output); !complaint.empty()) {
    throw Error(
        fmt::format("problem: the output of world ({}) is outside its space: {}", fmt::join(world, ", "), complaint));
  }
}

class FunctionProblem final : public Problem {
 public:
  FunctionProblem(Space worlds, Space outputs, std::function<void(Values, MutableValues)> apply)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)), apply_(std::move(apply)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values world, MutableValues output) const override { apply_(world, output); }

 private:
  Space worlds_, outputs_;
  std::function<void(Values, MutableValues)> apply_;
};

}  // namespace

torch::Tensor Problem::apply_batch(const torch::Tensor& worlds) const {
  const auto rows = worlds.size(0), world_size = this->worlds().variables(), output_size = outputs().variables();
  TORCH_CHECK(worlds.dim() == 2 && worlds.size(1) == world_size && worlds.scalar_type() == torch::kInt64,
              "apply_batch: worlds must be int64 [batch, ", world_size, "], got ", worlds.scalar_type(), " ",
              worlds.sizes());
  const auto input = worlds.to(torch::kCPU).contiguous();
  auto result = torch::full({rows, output_size}, kNone, torch::kInt64);
  const auto* const in = input.const_data_ptr<std::int64_t>();
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  parallel_for(rows, kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const Values world(in + row * world_size, static_cast<std::size_t>(world_size));
      const MutableValues output(out + row * output_size, static_cast<std::size_t>(output_size));
      apply(world, output);
      check_output(*this, world, output);
    }
  });
  return result.to(worlds.device());
}

ReadingOrder Problem::reading_order() const { return ReadingOrder::all_then_emit(worlds(), outputs()); }

std::shared_ptr<const Automaton> Problem::automaton() const { return nullptr; }

std::optional<Cnf> Problem::cnf() const { return std::nullopt; }

std::unique_ptr<Pruner> Problem::pruner() const { return nullptr; }

std::unique_ptr<Propagation> Problem::propagation(Values /*output*/) const { return nullptr; }

std::unique_ptr<Problem> make_problem(Space worlds, Space outputs, std::function<void(Values, MutableValues)> apply) {
  return std::make_unique<FunctionProblem>(std::move(worlds), std::move(outputs), std::move(apply));
}

std::vector<std::int64_t> apply_checked(const Problem& problem, Values world) {
  std::vector<std::int64_t> output(static_cast<std::size_t>(problem.outputs().variables()), kNone);
  problem.apply(world, output);
  check_output(problem, world, output);
  return output;
}

}  // namespace anesi
