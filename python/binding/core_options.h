// What may be set of Knowledge, by the names that the command line has for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "anesi/discover/discover.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/option_table.h"
#include "anesi/predict/predictor.h"
#include "anesi/priors/priors.h"
#include "anesi/train/options.h"

namespace anesi::python {

// What may be set by full name ("q.samples=64", "scan.width=128", "discover.seconds=5"), with defaults for a q that
// learns in somebody else's loop.
struct CoreOptions {
  CoreOptions();
  CoreOptions(const CoreOptions&) = delete;  // the table refers to members
  CoreOptions& operator=(const CoreOptions&) = delete;

  QOptions q;
  PriorOptions prior;
  DiscoverOptions discover;
  ExactOptions exact;
  PredictorOptions eval;
  std::vector<std::string> of_architectures;  // settings of architectures and priors, as they came

  // "name=value". Throws UsageError where there is no such option.
  void set(const std::string& assignment);
  // Throws UsageError, which names it and says what to do instead, where an option was set that would change nothing
  // for a q of this architecture ("" for one that is chosen later).
  void require_used(const std::string& architecture) const;
  // The names of all options, without those of architectures and priors.
  std::vector<std::string> names() const;
  // Those of one architecture or prior.
  std::vector<std::string> settings_for(const std::string& group) const;
  // All of them by full name, and back; names that are not known are passed over.
  std::map<std::string, std::string> values() const;
  static std::vector<std::string> settings_of(const std::map<std::string, std::string>& values);

 private:
  OptionTable table_;
};

}  // namespace anesi::python
