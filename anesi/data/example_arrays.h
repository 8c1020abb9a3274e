// Labelled examples as arrays: what the built-in tasks' data are before a framework takes them.
#pragma once

#include <optional>
#include <string>

#include "anesi/core/array.h"
#include "anesi/core/rows.h"

namespace anesi {

struct ExampleArrays {
  // float32 [examples, …]; with an index, images that examples may share, uint8 [images, …].
  Array inputs = {};
  std::optional<Array> index = {};  // int64 [examples, images of an example]: example i shows inputs[index[i]]

  // What labels say.
  std::optional<Array> outputs = {};  // int64 [examples, output variables]
  std::optional<Array> holds = {};    // bool [examples]: false if the output is any but that one; none: all hold
  std::optional<Array> observed_worlds = {};  // int64 [examples, world variables], kUnset if a variable is not told

  std::optional<Array> worlds =
      {};  // the true ones, for scoring alone: int64 [examples, world variables], kUnset if unknown
};

struct SplitArrays {
  ExampleArrays train = {};
  std::optional<ExampleArrays> validation = {};
  ExampleArrays test = {};
  std::string origin = {};  // where the data come from, for people
};

// Rows as an array, int64 [size, width], and back; the numbers are not copied.
Array array_of(Points points);
PointRows points_of(const Array& array);

}  // namespace anesi
