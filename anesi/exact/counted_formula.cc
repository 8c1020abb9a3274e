#include "anesi/exact/counted_formula.h"

#include "anesi/core/error.h"

namespace anesi {

const CircuitBatch& CountedFormula::violations() const {
  const std::scoped_lock lock(mutex_);
  if (!why_not_.empty()) throw Error(why_not_);
  try {
    if (!violations_) violations_.emplace(std::make_shared<const Circuit>(violations_of(*formula_, seconds_)));
  } catch (const Error& error) {
    why_not_ = error.what();
    throw;
  }
  return *violations_;
}

}  // namespace anesi
