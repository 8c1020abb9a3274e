// Figures of several runs: their mean and how far they lie apart.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace anesi {

struct Summary {
  std::vector<double> values;

  double mean() const;
  // Of the population that the runs are a sample of; 0 where there is one run alone.
  double deviation() const;
};

// Whether a figure of a result is a share of 1, which people read in per cent.
bool is_share(const std::string& name);

// Figures of results (result.json) by name, those of nested objects as "outer.inner", in the order in which they first
// appear. What a result says of the machine is no figure.
class Summaries {
 public:
  void add(const nlohmann::ordered_json& result) { add(result, ""); }

  const std::vector<std::pair<std::string, Summary>>& all() const { return all_; }
  // {"accuracy": {"mean": …, "std": …, "runs": […]}, …}
  nlohmann::ordered_json to_json() const;

 private:
  void add(const nlohmann::ordered_json& figures, const std::string& prefix);

  std::vector<std::pair<std::string, Summary>> all_;
};

}  // namespace anesi
