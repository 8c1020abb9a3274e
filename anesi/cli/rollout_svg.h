// A picture of a rollout, as in the paper's figure 2: the tree of choices, and what the pruner struck out.
#pragma once

#include <string>
#include <vector>

#include "anesi/models/rollout_record.h"

namespace anesi::cli {

std::string rollout_svg(const std::vector<RecordedStep>& steps, const std::string& title);

}  // namespace anesi::cli
