#include "anesi/estimate/estimator.h"

#include <fmt/format.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// Puts a generator back where it was unless all went well, so that whoever goes on after an error draws the same.
class OnlyIfAllGoesWell {
 public:
  explicit OnlyIfAllGoesWell(at::Generator generator)
      : generator_(std::move(generator)), before_(generator_.get_state()) {}
  ~OnlyIfAllGoesWell() {
    if (!done_) generator_.set_state(before_);
  }
  OnlyIfAllGoesWell(const OnlyIfAllGoesWell&) = delete;
  OnlyIfAllGoesWell& operator=(const OnlyIfAllGoesWell&) = delete;
  void done() { done_ = true; }

 private:
  at::Generator generator_;
  torch::Tensor before_;
  bool done_ = false;
};

}  // namespace

torch::Tensor Estimator::expectation(const Parameters& parameters) {
  const auto at = checked(parameters, parts_.sources);
  OnlyIfAllGoesWell guard(parts_.generator);
  auto result = estimate(at);
  guard.done();
  return result;
}

std::optional<double> Estimator::learn(const Parameters& parameters) {
  const auto at = checked(parameters, parts_.sources).detached();
  OnlyIfAllGoesWell guard(parts_.generator);
  const torch::AutoGradMode gradients(true);
  const auto loss = learn_at(at);
  guard.done();
  return loss;
}

void Estimator::require_no_normals(const char* name) const {
  if (sources().normals > 0) throw UsageError(fmt::format("{}: it is for categoricals alone; z has normals", name));
}

void Estimator::require_no_categoricals(const char* name) const {
  if (sources().categoricals.variables() > 0) {
    throw UsageError(fmt::format("{}: it is for normals alone; z has categoricals", name));
  }
}

Registry<EstimatorEntry>& estimators() {
  static Registry<EstimatorEntry> all("estimator");
  return all;
}

std::unique_ptr<Estimator> make_estimator(const std::string& name, const EstimatorParts& parts,
                                          const std::vector<std::string>& settings) {
  const auto chosen = estimators().find(name).choose();
  OptionTable table;
  chosen->describe(table);
  for (const auto& setting : settings) table.set(std::string_view(setting));
  if (parts.sources.categoricals.variables() + parts.sources.normals == 0) {
    throw UsageError("z has no parts: neither categoricals nor normals");
  }
  return chosen->make(parts);
}

}  // namespace anesi
