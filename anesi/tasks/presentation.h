// How a task's worlds, outputs and inputs look to people.
//
// Every method has a default that suits any task; a task overrides what it can say better.
#pragma once

#include <torch/torch.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/space.h"
#include "anesi/tensors/observations.h"

namespace anesi {

// What a picture of a prediction or an explanation may show; empty where it is not known.
struct Picture {
  torch::Tensor inputs;                      // [1, …]
  std::vector<std::int64_t> read;            // the most likely world
  std::vector<std::int64_t> explained = {};  // the world that explains the output
  std::vector<std::int64_t> predicted = {};  // the output that is explained
  std::vector<std::int64_t> label = {};      // the true output
  std::vector<double> influence = {};        // how much each world variable matters to it
};

// Constant; may be used from several threads.
class Presentation {
 public:
  virtual ~Presentation() = default;

  // A world or an output on one line. Default: its values with spaces between.
  virtual std::string world(Values world) const;
  virtual std::string output(Values output) const;
  // A world laid out for reading, on several lines. Default: as world() writes it.
  virtual std::string layout(Values world) const { return this->world(world); }

  // How many world variables stand side by side where a world is drawn, and the side of the blocks that a grid of them
  // is divided into. Default, 0: as many as fit, no blocks.
  virtual std::int64_t columns() const { return 0; }
  virtual std::int64_t block() const { return 0; }

  // What variables are called, and their values. Default: "variable 7" and "output 7", counted from 1, and the value.
  virtual std::string variable(std::int64_t variable) const;
  virtual std::string output_variable(std::int64_t variable) const;
  virtual std::string value(std::int64_t /*variable*/, std::int64_t value) const { return std::to_string(value); }

  // An output as people write it, back to values. Default: numbers with spaces or commas between. Throws UsageError.
  virtual std::vector<std::int64_t> read_output(const std::string& text) const;
  // One example's input from a file of the user's, [1, …]. Default: throws UsageError, for the task cannot.
  virtual torch::Tensor read_input(const std::filesystem::path& path) const;

  // A picture as SVG. Default: none.
  virtual std::optional<std::string> draw(const Picture& /*picture*/) const { return std::nullopt; }

  // A label on one line: the output, with "not" before it where that does not hold.
  std::string label(const Observations& label) const;

 protected:
  // For an output of one variable whose values have these names: a name or a number. Throws UsageError.
  std::vector<std::int64_t> read_named_output(const std::string& text, const std::vector<std::string>& names) const;
};

}  // namespace anesi
