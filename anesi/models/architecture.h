// The architectures of q by name. Each registers itself from its own file:
//
//   ANESI_ARCHITECTURE("scan", "one recurrent cell shared over the steps of a reading order", ScanOptions,
//                      [](const Problem& problem, const ScanOptions& options, bool explain) -> InferenceModel { … });
//
// Its options then appear as scan.width and so on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "anesi/core/problem.h"
#include "anesi/core/unique_name.h"
#include "anesi/models/inference_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

// One architecture with values for its options.
class Architecture {
 public:
  virtual ~Architecture() = default;
  virtual void describe(OptionTable& table) = 0;
  // With an explanation model where `explain` says so.
  virtual InferenceModel build(const Problem& problem, bool explain) const = 0;
};

struct ArchitectureEntry {
  std::string summary;
  std::function<std::unique_ptr<Architecture>()> make;
};

// All that registered, by name.
std::map<std::string, ArchitectureEntry>& architectures();

template <typename Options, typename Build>
class ArchitectureOf final : public Architecture {
 public:
  explicit ArchitectureOf(Build build) : build_(std::move(build)) {}
  void describe(OptionTable& table) override { options_.describe(table); }
  InferenceModel build(const Problem& problem, bool explain) const override {
    return build_(problem, options_, explain);
  }

 private:
  Options options_;
  Build build_;
};

template <typename Options, typename Build>
bool register_architecture(const std::string& name, const std::string& summary, Build build) {
  return architectures()
      .emplace(name,
               ArchitectureEntry{summary, [build] { return std::make_unique<ArchitectureOf<Options, Build>>(build); }})
      .second;
}

#define ANESI_ARCHITECTURE(name, summary, Options, ...)                     \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_architecture_) = \
      register_architecture<Options>(name, summary, __VA_ARGS__)

}  // namespace anesi
