// What was changed in a configuration since a training with it began, and whether that training can go on.
//
// What a checkpoint holds was learned under its options. Under others it is the result of no configuration: nobody
// could train it again. A training may become longer, be evaluated more or less often, and decide otherwise in the end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "anesi/run/configuration.h"

namespace anesi {

struct OptionChange {
  std::string name, before, now;
  bool allowed = false;  // a training can go on with it

  std::string to_string() const;  // "seed was 0, is 5"
};

// By name. Options that are not known any more, or were not yet, are passed over.
std::vector<OptionChange> option_changes(const std::map<std::string, std::string>& before, const Configuration& now);

// Such changes on one line, the first few of them.
std::string to_string(const std::vector<OptionChange>& changes);

}  // namespace anesi
