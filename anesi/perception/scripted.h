// A perception that was written in Python, as TorchScript: what know.save(…, perception=net, example=x) leaves beside a
// saved model as perception.pt.
//
//   const auto predictor = load_predictor("alarm", problem, [&] {
//     return load_scripted_perception("alarm/perception.pt", problem->worlds());
//   });
#pragma once

#include <filesystem>
#include <memory>

#include "anesi/core/space.h"
#include "anesi/perception/perception.h"

namespace anesi {

// Its forward takes inputs and returns logits, [batch, variables, largest domain], which become beliefs; what lies past
// a variable's domain is ignored. The file is a program that runs: load none from somebody you do not trust. Throws
// Error where it cannot be read.
std::shared_ptr<Perception> load_scripted_perception(const std::filesystem::path& file, const Space& worlds);

}  // namespace anesi
