#include "anesi/perception/ensemble.h"

#include <algorithm>
#include <string>

namespace anesi {

Ensemble::Ensemble(std::vector<std::shared_ptr<Perception>> members) : members_(std::move(members)) {
  TORCH_CHECK(!members_.empty(), "an ensemble without members");
  for (std::size_t place = 0; place < members_.size(); ++place) {
    register_module("member" + std::to_string(place), members_[place]);
  }
}

torch::Tensor Ensemble::forward(const torch::Tensor& inputs) {
  auto total = members_[0]->forward(inputs);
  for (std::size_t place = 1; place < members_.size(); ++place) total = total + members_[place]->forward(inputs);
  return total / static_cast<double>(members_.size());
}

bool Ensemble::separable() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->separable(); });
}

std::int64_t members_of(const Perception& perception) {
  const auto* const ensemble = dynamic_cast<const Ensemble*>(&perception);
  return ensemble == nullptr ? 1 : ensemble->members();
}

std::shared_ptr<Perception> make_ensemble(const MakePerception& make, std::int64_t members) {
  if (members == 1) return make();
  std::vector<std::shared_ptr<Perception>> all;
  for (std::int64_t member = 0; member < members; ++member) all.push_back(make());
  return std::make_shared<Ensemble>(std::move(all));
}

}  // namespace anesi
