// The back ends of exact inference that there are, and the choice among them.
//
//   const auto chosen = choose_backend(*problem);          // the cheapest that applies
//   const auto named = make_backend("circuit", *problem);
//
// A back end of one's own, also from outside this repository, is a class that derives from Backend, with a constructor
// from a problem and a static function that says what it would cost:
//
//   class DecisionDiagram final : public anesi::Backend {
//    public:
//     static std::optional<anesi::BackendCost> applies(const anesi::Problem& problem, const anesi::ExactOptions&);
//     DecisionDiagram(const anesi::Problem& problem, const anesi::ExactOptions&);
//     …
//   };
//   ANESI_BACKEND("bdd", "a binary decision diagram", DecisionDiagram)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/unique_name.h"
#include "anesi/exact/backend.h"
#include "anesi/options/registry.h"

namespace anesi {

struct ExactOptions {
  std::string method = "auto";  // or the name of a back end
  double seconds = 60, gigabytes = 8;

  void describe(OptionTable& table);
};

// What a back end would cost on a problem, roughly.
struct BackendCost {
  double seconds = 0;     // until it can be asked
  double operations = 0;  // for one example
  double bytes = 0;
};

struct BackendEntry {
  std::string summary;
  // Only such a back end is chosen without being named: it answers every query exactly, once it is made.
  bool chosen_automatically = true;
  bool is_approximate = false;
  // Empty if the problem lacks what the back end needs.
  std::function<std::optional<BackendCost>(const Problem& problem, const ExactOptions& options)> applies;
  // Throws Error if that fails, in spite of what `applies` said, or takes longer than `options.seconds`.
  std::function<std::unique_ptr<Backend>(const Problem& problem, const ExactOptions& options)> make;
};

// Filled while the program starts, then constant.
Registry<BackendEntry>& backends();

struct ChosenBackend {
  std::string name;
  std::shared_ptr<const Backend> backend;  // null if none applies
  std::string why_not;                     // those that were tried before failed or, if null, what is lacking
};

// The back end that is named or, for "auto", the one that answers kExpectedExamples soonest, time to make it included,
// of those that fit into memory; if it cannot be made, the next one.
inline constexpr double kExpectedExamples = 1e6;
ChosenBackend choose_backend(const Problem& problem, const ExactOptions& options = {});

// The same; throws Error if there is none.
std::shared_ptr<const Backend> make_backend(const Problem& problem, const ExactOptions& options = {});
inline std::shared_ptr<const Backend> make_backend(const std::string& name, const Problem& problem) {
  return make_backend(problem, {.method = name});
}

template <typename Class>
BackendEntry backend_entry(std::string summary, bool chosen_automatically = true) {
  return {std::move(summary), chosen_automatically, /*is_approximate=*/false, &Class::applies,
          [](const Problem& problem, const ExactOptions& options) -> std::unique_ptr<Backend> {
            return std::make_unique<Class>(problem, options);
          }};
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it is to be written at file scope
#define ANESI_BACKEND(name, summary, ...)                         \
  [[maybe_unused]] static const bool ANESI_UNIQUE_NAME(backend) = \
      ::anesi::backends().add(name, ::anesi::backend_entry<__VA_ARGS__>(summary));

}  // namespace anesi
