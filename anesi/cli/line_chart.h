// A chart of lines on logarithmic axes, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace anesi::cli {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // both coordinates above zero
};

struct ChartLabels {
  std::string title, x, y;
  double y_scale = 1;  // y is shown times this
};

std::string line_chart(const std::vector<Series>& series, const ChartLabels& labels);

// Several charts from left to right, as one picture.
std::string side_by_side(const std::vector<std::string>& charts);

}  // namespace anesi::cli
