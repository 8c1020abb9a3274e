#include "anesi/core/output_tables.h"

namespace anesi {

Points look_up(const OutputTables& tables, PointRows worlds, const Space& space) {
  Points outputs(worlds.size(), std::ssize(tables.tables));
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    for (std::size_t output = 0; output < tables.tables.size(); ++output) {
      const auto& table = tables.tables[output];
      std::int64_t place = 0;
      for (const auto variable : table.variables) {
        place = place * space.domain(variable) + worlds[row][static_cast<std::size_t>(variable)];
      }
      outputs[row][output] = table.values[static_cast<std::size_t>(place)];
    }
  }
  return outputs;
}

}  // namespace anesi
