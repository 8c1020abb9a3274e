#include "anesi/estimate/estimator.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/estimate/outcome_model.h"

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

namespace {

// The categoricals' domains and how many normals there are, int64.
torch::Tensor sizes_of(const Sources& sources) {
  auto sizes = sources.categoricals.domains();
  sizes.push_back(sources.normals);
  return torch::tensor(sizes, torch::kInt64);
}

}  // namespace

NamedTensors Estimator::state() const {
  NamedTensors state;
  add_with_prefix(state, "learned.", learned());
  state["calls"] = torch::tensor(calls(), torch::kInt64);
  state["sources"] = sizes_of(parts_.sources);
  state["generator"] = parts_.generator.get_state();
  return copied(state);
}

void Estimator::load_state(const NamedTensors& state) {
  const auto calls = state_tensor(state, "calls", torch::kInt64, {}).item<std::int64_t>();
  if (calls < 0) throw Error(fmt::format("estimator state: calls is {}", calls));
  const auto sources = sizes_of(parts_.sources);
  if (!torch::equal(state_tensor(state, "sources", torch::kInt64, sources.sizes()), sources)) {
    throw Error("estimator state: it is of categoricals of other sizes");
  }
  auto probe = parts_.generator.clone();
  const auto generator = state_tensor(state, "generator", torch::kUInt8, probe.get_state().sizes());
  try {
    probe.set_state(generator);
  } catch (const c10::Error&) {
    throw Error("estimator state: generator is not a generator's");
  }
  for (const auto& [name, tensor] : state) {
    if (tensor.is_floating_point() && tensor.isnan().any().item<bool>()) {
      throw Error(fmt::format("estimator state: {} has what is not a number", name));
    }
  }
  const auto before = copied(learned());
  try {
    load_learned(with_prefix(state, "learned."));
  } catch (...) {
    load_learned(before);
    throw;
  }
  parts_.g->set_calls(calls);
  parts_.generator.set_state(generator);
}

torch::Tensor state_tensor(const NamedTensors& state, const std::string& name, torch::ScalarType type,
                           torch::IntArrayRef shape) {
  const auto found = state.find(name);
  if (found == state.end()) throw Error(fmt::format("estimator state: {} is missing", name));
  const auto& tensor = found->second;
  bool fits = tensor.scalar_type() == type && tensor.dim() == static_cast<std::int64_t>(shape.size());
  for (std::size_t place = 0; fits && place < shape.size(); ++place) {
    fits = shape[place] < 0 || tensor.size(static_cast<std::int64_t>(place)) == shape[place];
  }
  if (!fits) throw Error(fmt::format("estimator state: {} has another shape or type", name));
  if (tensor.is_floating_point() && !tensor.isfinite().all().item<bool>()) {
    throw Error(fmt::format("estimator state: {} has numbers that are not finite", name));
  }
  return tensor.contiguous().clone();
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
