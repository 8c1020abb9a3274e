// The inference model q as a whole: what predicts and what explains.
#pragma once

#include <memory>

#include "anesi/models/sequence_model.h"

namespace anesi {

struct InferenceModel {
  std::shared_ptr<SequenceModel> prediction;   // q(y|P)
  std::shared_ptr<SequenceModel> explanation;  // q(w|y,P); null where q only predicts

  void eval() const {
    prediction->eval();
    if (explanation) explanation->eval();
  }
};

}  // namespace anesi
