// A pruner that remembers its answers.
//
// Rollouts ask the same again and again: labels in every epoch, samples about the beginnings that they share.
#pragma once

#include <cstddef>
#include <memory>

#include "anesi/core/pruner.h"

namespace anesi {

// Answers as the other does, faster the second time. Forgets everything where what it remembers would take more than
// `most` bytes.
std::unique_ptr<Pruner> make_remembering_pruner(std::shared_ptr<const Pruner> pruner,
                                                std::size_t most = std::size_t{1} << 28);

}  // namespace anesi
