// The inference model q as a whole: what predicts and what explains.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "anesi/models/sequence_model.h"

namespace anesi {

struct InferenceModel {
  std::shared_ptr<SequenceModel> prediction;   // q(y|P)
  std::shared_ptr<SequenceModel> explanation;  // q(w|y,P); null where q only predicts

  // What both ask where q is exact inference; null where q is a network.
  std::shared_ptr<const ExactInference> exact = {};

  // How it was made, so that it can be saved and made again: the architecture's registered name and its options by full
  // name ("scan.width"). Empty for a model that was put together by hand.
  std::string architecture = {};
  std::map<std::string, std::string> options = {};

  // Into evaluation mode; nothing is written where it is.
  void eval() const {
    put_to_rest(*prediction);
    if (explanation) put_to_rest(*explanation);
  }
};

}  // namespace anesi
