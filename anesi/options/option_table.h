// One table of options: a line each, with its name, default, range and help.
//
// A struct of options describes itself once:
//
//   struct ScanOptions {
//     std::int64_t width = 128;
//     void describe(OptionTable& table) { table.add("width", width, {1, 4096}, "size of the recurrent state"); }
//   };
//
// The command line (--set scan.width=64), the TOML file, the check of ranges, --help and the docs all read the table
// that describe() fills. A table holds references into the structs it was filled from and must not outlive them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

template <typename Number>
struct Range {
  Number low, high;  // both included
};

class OptionTable {
 public:
  void add(const std::string& name, std::int64_t& value, Range<std::int64_t> range, const std::string& help);
  void add(const std::string& name, double& value, Range<double> range, const std::string& help);
  void add(const std::string& name, bool& value, const std::string& help);
  void add(const std::string& name, std::string& value, std::vector<std::string> choices, const std::string& help);

  // All options of a struct, as "prefix.name".
  template <typename Struct>
  void add_group(const std::string& prefix, Struct& options) {
    const auto outer = prefix_;
    prefix_ += prefix + ".";
    options.describe(*this);
    prefix_ = outer;
  }

  // Sets an option from text. Throws UsageError where the name is unknown (and says which one was perhaps meant) or the
  // value is not of its kind, out of its range or not among its choices.
  void set(const std::string& name, std::string_view value);
  // "name=value".
  void set(std::string_view assignment);
  std::string get(const std::string& name) const;

  // For people: the name, its default (the value when it was added), what it may be, and its help.
  struct Row {
    std::string name, fallback, range, help;
  };
  std::vector<Row> rows() const;

  // All values, as a TOML document and back. `origin` names the file in errors.
  std::string to_toml() const;
  void load_toml(std::string_view text, const std::string& origin);

 private:
  enum class Kind { integer, real, flag, text };
  struct Entry {
    Row row;
    Kind kind;
    std::function<void(const std::string&)> set;  // throws UsageError without the option's name
    std::function<std::string()> get;
  };
  void insert(const std::string& name, Kind kind, std::string range, const std::string& help,
              std::function<void(const std::string&)> set, std::function<std::string()> get);

  std::map<std::string, Entry> entries_;
  std::string prefix_;
};

}  // namespace anesi
