// A part of training: so many steps of one kind.
//
// Training is a list of phases (trainer.h). A new kind of training is a new phase in a file of its own (follow_phase.h
// is a short one); what it must remember between steps it tells by name, so that a checkpoint holds it and another
// phase's news breaks nothing.
//
// Evaluations leave networks in evaluation mode, so a step begins by putting those that learn into training mode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "anesi/predict/evaluation.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

// What a step measured: the loss on labels, and that of q's update; empty where there was none.
struct StepLosses {
  std::optional<double> loss = {}, q_loss = {};
};

class Phase {
 public:
  virtual ~Phase() = default;

  // Tells phases apart, in progress, logs and checkpoints.
  virtual std::string name() const = 0;

  // Called whenever the phase is about to run, also after a checkpoint was loaded in the middle of it.
  virtual void begin() {}
  // How many steps there are. Known once begin() was called.
  virtual std::int64_t steps() const = 0;
  // Passes over examples that these are; 0 where the phase has none.
  virtual std::int64_t epochs() const { return 0; }
  // Step `index`, counted from 0.
  virtual StepLosses step(std::int64_t index) = 0;

  // Whether something is to be reported after step `index`, a good moment for a checkpoint; and what perception and q
  // are worth then, empty where that makes no sense yet.
  virtual bool reports_after(std::int64_t index) const { return index + 1 == steps(); }
  virtual std::optional<Evaluation> evaluate() { return std::nullopt; }

  // After the last step: whether training goes on with the next phase or this one runs again from its first step.
  // Called once more where a run that had ended is resumed.
  enum class Next { kOn, kAgain };
  virtual Next finish() { return Next::kOn; }

  // All that its future depends on and that neither the learner's weights, optimiser and generator nor the loss hold.
  virtual NamedTensors state() const { return {}; }
  // Empty where the phase had nothing to remember. Called before begin(), on all phases in their order.
  virtual void load_state(const NamedTensors& /*state*/) {}
};

}  // namespace anesi
