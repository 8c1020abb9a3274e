// What an examination of a problem and its q found, as lines for people and figures for programs.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "anesi/discover/problem_check.h"

namespace anesi {

class CheckReport {
 public:
  // Is told each line as soon as it is known.
  using Tell = std::function<void(const Finding&)>;

  // Every figure that programs look for is there, null until it is set.
  explicit CheckReport(Tell tell = {});

  void set(const std::string& key, nlohmann::ordered_json value) { figures_[key] = std::move(value); }
  void line(bool good, const std::string& name, const std::string& words);

  // Whether nothing is wrong.
  bool good() const;
  const std::vector<Finding>& lines() const { return lines_; }
  // The figures, and the lines as `notes`.
  nlohmann::ordered_json to_json() const;

 private:
  Tell tell_;
  std::vector<Finding> lines_;
  nlohmann::ordered_json figures_;
};

}  // namespace anesi
