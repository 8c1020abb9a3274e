// Exact inference in a function with a finite memory: dynamic programming over its states. Linear in the length.
#pragma once

#include <memory>

#include "anesi/exact/automaton.h"
#include "anesi/exact/backend.h"

namespace anesi {

std::unique_ptr<Backend> make_automaton_backend(std::shared_ptr<const Automaton> automaton);

}  // namespace anesi
