// How a report writes figures and words: units, what a figure means, and text that is safe in HTML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

// Text from anywhere, as HTML shows it: on one line, with nothing that HTML or a terminal would obey.
std::string escaped(std::string_view text);
// Several lines, each escaped by itself.
std::string escaped_lines(std::string_view text);

// What a figure is measured in.
enum class Unit { kShare, kNats, kSeconds, kMilliseconds, kCount, kDistance, kSmall };
std::string in_unit(double value, Unit unit);
// Of a figure of result.json or log.jsonl, by its name.
Unit unit_of(const std::string& name);

// What a figure of result.json is, in a few words; "" where its name says it.
std::string meaning_of(const std::string& name);

// Names of all numbers in an object, those of nested ones as "outer.inner", behind the prefix; what is said of the
// machine is no figure.
std::vector<std::string> figure_names(const nlohmann::ordered_json& object, const std::string& prefix = "");
// Where the figure of such a name stands in that object: "/believed/exact_match" of "believed.exact_match".
std::string pointer_of(std::string name);

}  // namespace anesi
