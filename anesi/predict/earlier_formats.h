// What manifests of earlier versions leave to be concluded.
#pragma once

#include "anesi/predict/manifest.h"

namespace anesi {

// Format 1 (version 0.1) said neither whether q explains, prunes or learned nor how many members an ensemble has: all
// of it followed from the options of training. Throws std::logic_error where a number is none.
void complete_format_1(Manifest& saved);

}  // namespace anesi
