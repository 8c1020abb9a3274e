#include "anesi/search/remembering_pruner.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace anesi {
namespace {

class RememberingPruner final : public Pruner {
 public:
  RememberingPruner(std::shared_ptr<const Pruner> pruner, std::size_t most) : pruner_(std::move(pruner)), most_(most) {}

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    answer(key_of({}, partial, variable), mask, [&] { pruner_->allow_outputs(partial, variable, mask); });
  }
  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    answer(key_of(output, partial, variable), mask, [&] { pruner_->allow_worlds(output, partial, variable, mask); });
  }
  bool is_exact() const override { return pruner_->is_exact(); }

 private:
  // Values take two bytes, which few are too large for; those are told apart by four more.
  static void append(std::string& key, std::int64_t value) {
    if (value >= -2 && value < 60000) {
      const auto low = static_cast<unsigned>(value + 2);
      key.push_back(static_cast<char>(low & 255U));
      key.push_back(static_cast<char>(low >> 8U));
      return;
    }
    key.append("\xff\xff");
    key.append(std::to_string(value));
    key.push_back(';');
  }
  static std::string key_of(Values output, Values partial, std::int64_t variable) {
    std::string key;
    key.reserve(2 * (output.size() + partial.size() + 2));
    for (const auto value : output) append(key, value);
    append(key, static_cast<std::int64_t>(output.size()));
    for (const auto value : partial) append(key, value);
    append(key, variable);
    return key;
  }

  template <typename Ask>
  void answer(std::string key, Mask mask, Ask ask) const {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = answers_.find(key); found != answers_.end()) {
        for (std::size_t value = 0; value < mask.size(); ++value) mask[value] = found->second[value] != 0;
        return;
      }
    }
    ask();
    const std::unique_lock lock(mutex_);
    const auto bytes = key.size() + mask.size() + kBytesOfAnEntry;
    if (bytes > most_) return;
    if (bytes_ + bytes > most_) {
      answers_.clear();
      bytes_ = 0;
    }
    auto& remembered = answers_[std::move(key)];
    if (!remembered.empty()) return;  // another thread asked the same
    bytes_ += bytes;
    remembered.resize(mask.size());
    for (std::size_t value = 0; value < mask.size(); ++value) remembered[value] = mask[value] ? 1 : 0;
  }

  std::shared_ptr<const Pruner> pruner_;
  static constexpr std::size_t kBytesOfAnEntry = 128;  // besides its letters, about

  std::size_t most_;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, std::string> answers_;  // a character a value
  mutable std::size_t bytes_ = 0;                                 // that the answers take
};

}  // namespace

std::unique_ptr<Pruner> make_remembering_pruner(std::shared_ptr<const Pruner> pruner, std::size_t most) {
  return std::make_unique<RememberingPruner>(std::move(pruner), most);
}

}  // namespace anesi
