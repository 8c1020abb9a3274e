// The architecture `tables`: outputs that each are of a few world variables, which a table says. Nothing is learned.
// Where no two outputs share a variable it is exact inference.
#include <memory>

#include "anesi/exact/tables_backend.h"
#include "anesi/models/architecture.h"

namespace anesi {
namespace {

// Outputs do not depend on each other: the next one's logarithms stand in a tensor.
class MarginalRollout final : public Rollout {
 public:
  MarginalRollout(torch::Tensor marginals, const Space& outputs)
      : marginals_(std::move(marginals)), outputs_(outputs) {}

  torch::Tensor next_log_probs() override {
    return marginals_.select(1, variable_).slice(1, 0, outputs_.domain(variable_));
  }
  void advance(const torch::Tensor&) override { ++variable_; }
  void select(const torch::Tensor& rows) override { marginals_ = marginals_.index_select(0, rows); }

 private:
  torch::Tensor marginals_;  // [rows, outputs, values]
  const Space& outputs_;
  std::int64_t variable_ = 0;
};

class Tables final : public SequenceModel {
 public:
  Tables(std::shared_ptr<const TablesBackend> backend, const Space& outputs)
      : SequenceModel(outputs), backend_(std::move(backend)), inference_(backend_) {}

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    return inference_.log_prob(context.beliefs, values).to(context.beliefs.scalar_type());
  }
  std::unique_ptr<Rollout> begin(const Context& context) override {
    const auto logs = LogBeliefs::of(context.beliefs).logs.contiguous();
    auto marginals = torch::empty({logs.size(0), space().variables(), space().largest_domain()}, torch::kFloat64);
    backend_->output_marginals(belief_rows_of(logs), gradient_rows_of(marginals));
    return std::make_unique<MarginalRollout>(marginals.to(context.beliefs.options()), space());
  }
  bool rollouts_have_gradients() const override { return false; }
  bool multilinear() const override { return backend_->is_exact(); }

 private:
  std::shared_ptr<const TablesBackend> backend_;
  ExactInference inference_;
};

}  // namespace

struct TablesOptions {
  void describe(OptionTable& /*table*/) {}
};

ANESI_ARCHITECTURE("tables", "the marginals of outputs that each are of a few world variables; nothing is learned",
                   TablesOptions, [](const TablesOptions&, const Problem& problem, bool) {
                     const auto backend = std::make_shared<const TablesBackend>(problem);
                     InferenceModel model{.prediction = std::make_shared<Tables>(backend, problem.outputs()),
                                          .explanation = nullptr};
                     if (backend->is_exact()) model.exact = std::make_shared<const ExactInference>(backend);
                     return model;
                   });

}  // namespace anesi
