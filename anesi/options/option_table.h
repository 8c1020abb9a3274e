// One table of options: a line each, with its name, default, range and help.
//
// A struct of options describes itself once:
//
//   struct FilterOptions {
//     std::int64_t order = 4;
//     void describe(OptionTable& table) { table.add("order", order, {1, 64}, "samples that it looks back"); }
//   };
//
// The command line (--set filter.order=8), the TOML file, the check of ranges, --help and the docs all read the table
// that describe() fills. A table holds references into the structs it was filled from and must not outlive them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace anesi {

template <typename Number>
struct Range {
  Number low, high;  // both included
};

// A choice among a few is an enumeration whose names are told, in its own order, by a function beside it:
//
//   enum class Shape { kConstant, kCosine };
//   constexpr std::array<std::string_view, 2> names_of(Shape) { return {"constant", "cosine"}; }
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  names_of(value);
};

template <NamedEnum Enum>
std::string name_of(Enum value) {
  return std::string(names_of(value)[static_cast<std::size_t>(value)]);
}

class OptionTable {
 public:
  void add(const std::string& name, std::int64_t& value, Range<std::int64_t> range, const std::string& help);
  void add(const std::string& name, double& value, Range<double> range, const std::string& help);
  void add(const std::string& name, bool& value, const std::string& help);
  // Any text or, where there are such, one of the names.
  void add(const std::string& name, std::string& value, std::vector<std::string> names, const std::string& help);
  template <NamedEnum Enum>
  void add(const std::string& name, Enum& value, const std::string& help) {
    const auto names = names_of(value);
    add_choice(
        name, {names.begin(), names.end()}, help, [&value](std::size_t chosen) { value = static_cast<Enum>(chosen); },
        [&value] { return static_cast<std::size_t>(value); });
  }

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
  bool contains(const std::string& name) const { return entries_.contains(name); }

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
  void add_choice(const std::string& name, std::vector<std::string> names, const std::string& help,
                  std::function<void(std::size_t)> set, std::function<std::size_t()> get);
  void insert(const std::string& name, Kind kind, std::string range, const std::string& help,
              std::function<void(const std::string&)> set, std::function<std::string()> get);

  std::map<std::string, Entry> entries_;
  std::string prefix_;
};

}  // namespace anesi
