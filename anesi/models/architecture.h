// The architectures of q by name. Each registers itself from its own file:
//
//   ANESI_ARCHITECTURE("scan", "one recurrent cell shared over the steps of a reading order", ScanOptions,
//                      [](const ScanOptions& options, const Problem& problem, bool explain) -> InferenceModel { … });
//
// Its options then appear as scan.width and so on. Where `explain` says so, q has an explanation model too.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/inference_model.h"
#include "anesi/options/registry.h"

namespace anesi {

using Architecture = Choice<InferenceModel(const Problem& problem, bool explain)>;
using ArchitectureEntry = Choosable<InferenceModel(const Problem& problem, bool explain)>;

Registry<ArchitectureEntry>& architectures();

// A q of that architecture, untrained, its weights from torch's generator. Settings are "name=value" each, with the
// architecture's own options or with full names: {"states=8"}, {"transducer.states=8"}. Throws UsageError where there
// is no such architecture or option, or the problem lacks a fact that it needs.
InferenceModel make_model(const Problem& problem, const std::string& architecture, bool explain = false,
                          const std::vector<std::string>& settings = {});

#define ANESI_ARCHITECTURE(name, summary, Options, ...)                                                   \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_architecture_) = ::anesi::architectures().add( \
      name, ::anesi::choosable<::anesi::InferenceModel(const ::anesi::Problem&, bool), Options>(summary, __VA_ARGS__))

}  // namespace anesi
