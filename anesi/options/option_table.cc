#include "anesi/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "anesi/core/error.h"
#include "anesi/core/printable.h"
#include "anesi/options/parse_toml.h"

namespace anesi {
namespace {

template <typename Number>
Number parse_number(const std::string& text, const char* what) {
  Number value{};
  const auto* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end) throw UsageError(fmt::format("\"{}\" is not {}", text, what));
  return value;
}

template <typename Number>
std::string range_text(Range<Number> range) {
  return fmt::format("{} to {}", range.low, range.high);
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::size_t place_in(const std::vector<std::string>& names, const std::string& text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw UsageError(fmt::format("\"{}\" is not a choice; there are {}", text, joined(names)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

// The number of single-letter edits between two names.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

constexpr std::size_t kLongestName = 64;

std::string beginning_of(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "…";
}

// Names that are far longer than any of ours are like none of them, and comparing would take long.
template <typename Entries>
std::string hint_for(const std::string& name, const Entries& entries) {
  if (name.size() <= kLongestName) {
    const auto nearest = std::ranges::min_element(
        entries, {}, [&](const auto& candidate) { return edit_distance(candidate.first, name); });
    if (nearest != entries.end() && edit_distance(nearest->first, name) <= std::max<std::size_t>(2, name.size() / 3)) {
      return fmt::format("did you mean {}?", nearest->first);
    }
  }
  return "`anesi train TASK --help` lists them";
}

}  // namespace

void OptionTable::insert(const std::string& name, Kind kind, std::string range, const std::string& help,
                         std::function<void(const std::string&)> set, std::function<std::string()> get) {
  const auto full = prefix_ + name;
  const auto fallback = get();
  const auto added =
      entries_.emplace(full, Entry{{full, fallback, std::move(range), help}, kind, std::move(set), std::move(get)});
  if (!added.second) throw Error(fmt::format("option {} is described twice", full));
}

void OptionTable::add(const std::string& name, std::int64_t& value, Range<std::int64_t> range,
                      const std::string& help) {
  insert(
      name, Kind::integer, range_text(range), help,
      [&value, range](const std::string& text) {
        const auto number = parse_number<std::int64_t>(text, "a whole number");
        if (number < range.low || number > range.high) {
          throw UsageError(fmt::format("{} is out of range; it may be {}", number, range_text(range)));
        }
        value = number;
      },
      [&value] { return fmt::format("{}", value); });
}

void OptionTable::add(const std::string& name, double& value, Range<double> range, const std::string& help) {
  insert(
      name, Kind::real, range_text(range), help,
      [&value, range](const std::string& text) {
        const auto number = parse_number<double>(text, "a number");
        if (!(number >= range.low && number <= range.high)) {
          throw UsageError(fmt::format("{} is out of range; it may be {}", number, range_text(range)));
        }
        value = number;
      },
      [&value] { return fmt::format("{}", value); });
}

void OptionTable::add(const std::string& name, bool& value, const std::string& help) {
  insert(
      name, Kind::flag, "true or false", help,
      [&value](const std::string& text) {
        if (text != "true" && text != "false") throw UsageError(fmt::format("\"{}\" is not true or false", text));
        value = text == "true";
      },
      [&value] { return value ? "true" : "false"; });
}

void OptionTable::add(const std::string& name, std::string& value, std::vector<std::string> names,
                      const std::string& help) {
  insert(
      name, Kind::text, names.empty() ? "any text" : joined(names), help,
      [&value, names](const std::string& text) {
        if (!names.empty()) place_in(names, text);
        // It is written into TOML and JSON, and shown.
        if (printable(text) != text) throw UsageError(fmt::format("\"{}\" is not plain text (UTF-8)", printable(text)));
        value = text;
      },
      [&value] { return value; });
}

void OptionTable::add_choice(const std::string& name, std::vector<std::string> names, const std::string& help,
                             std::function<void(std::size_t)> set, std::function<std::size_t()> get) {
  insert(
      name, Kind::text, joined(names), help,
      [names, set = std::move(set)](const std::string& text) { set(place_in(names, text)); },
      [names, get = std::move(get)] { return names[get()]; });
}

void OptionTable::set(const std::string& name, std::string_view value) {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) {
    throw UsageError(fmt::format("there is no option {}; {}", beginning_of(name), hint_for(name, entries_)));
  }
  try {
    entry->second.set(std::string(value));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("option {}: {}", name, error.what()));
  }
}

void OptionTable::set(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError(fmt::format("\"{}\" is not of the form name=value", assignment));
  }
  set(std::string(assignment.substr(0, equals)), assignment.substr(equals + 1));
}

std::string OptionTable::get(const std::string& name) const {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) throw UsageError(fmt::format("there is no option {}", name));
  return entry->second.get();
}

std::vector<OptionTable::Row> OptionTable::rows() const {
  std::vector<Row> rows;
  for (const auto& [name, entry] : entries_) rows.push_back(entry.row);
  return rows;
}

std::string OptionTable::to_toml() const {
  toml::table root;
  for (const auto& [name, entry] : entries_) {
    auto* table = &root;
    std::size_t start = 0;
    for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', start)) {
      table = table->insert(name.substr(start, dot - start), toml::table{}).first->second.as_table();
      start = dot + 1;
    }
    const auto key = name.substr(start), value = entry.get();
    switch (entry.kind) {
      case Kind::integer:
        table->insert(key, parse_number<std::int64_t>(value, "a whole number"));
        break;
      case Kind::real:
        table->insert(key, parse_number<double>(value, "a number"));
        break;
      case Kind::flag:
        table->insert(key, value == "true");
        break;
      case Kind::text:
        table->insert(key, value);
        break;
    }
  }
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // else a text that there is no memory for is cut short, and nobody told
  out << root << "\n";
  return out.str();
}

void OptionTable::load_toml(std::string_view text, const std::string& origin) {
  const auto root = parse_toml(text, origin);
  const auto visit = [&](const auto& self, const toml::table& table, const std::string& prefix) -> void {
    for (const auto& [key, node] : table) {
      const auto name = prefix + std::string(key.str());
      try {
        if (const auto* inner = node.as_table()) {
          self(self, *inner, name + ".");
        } else if (const auto* integer = node.as_integer()) {
          set(name, fmt::format("{}", integer->get()));
        } else if (const auto* real = node.as_floating_point()) {
          set(name, fmt::format("{}", real->get()));
        } else if (const auto* flag = node.as_boolean()) {
          set(name, flag->get() ? "true" : "false");
        } else if (const auto* string = node.as_string()) {
          set(name, string->get());
        } else {
          throw UsageError(fmt::format("option {}: a list or date is not a value of an option", name));
        }
      } catch (const UsageError& error) {
        const std::string what = error.what();
        throw UsageError(printable_line(what.starts_with(origin) ? what : fmt::format("{}: {}", origin, what)));
      }
    }
  };
  visit(visit, root, "");
}

}  // namespace anesi
