#include "anesi/serve/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "anesi/core/printable.h"
#include "anesi/serve/base64.h"

namespace anesi::serve {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;
constexpr std::size_t kMostValues = 100000;  // of one body; each takes some ten times its text
constexpr std::int64_t kLargestIndex = std::int64_t{1} << 40;
constexpr std::size_t kLongestOutput = 65536;  // values, or letters
constexpr std::size_t kLongestName = 100;      // of what is shown of a name that somebody sent

[[noreturn]] void malformed(const std::string& message) { throw Refusal(400, message); }

// Text of the request, as a message may show it: short, one line, no escapes.
std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kLongestName;
  return fmt::format("'{}{}'", printable(text.substr(0, kLongestName)), cut ? "…" : "");
}

char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool same_letters(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, small, small);
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::int64_t in_range(std::optional<std::int64_t> number, std::string_view name, std::int64_t least,
                      std::int64_t most) {
  if (!number || *number < least || *number > most) {
    malformed(fmt::format("{}: a whole number from {} to {} is wanted", name, least, most));
  }
  return *number;
}

// A query's text with %20 and + undone.
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      plain += ' ';
    } else if (text[at] == '%') {
      unsigned byte = 0;
      const auto digits = text.substr(at + 1, 2);
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || failure != std::errc() || end != digits.data() + 2) {
        malformed("the query is not percent-encoded as it should be");
      }
      plain += static_cast<char>(byte);
      at += 2;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::map<std::string, std::string> query_of(const HttpRequest& request, const std::set<std::string>& known) {
  std::map<std::string, std::string> values;
  auto rest = request.query();
  while (!rest.empty()) {
    const auto piece = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const auto equals = std::min(piece.find('='), piece.size());
    const auto name = decoded(piece.substr(0, equals));
    if (!known.contains(name)) malformed(fmt::format("the query has an unknown key {}", in_quotes(name)));
    if (!values.emplace(name, decoded(piece.substr(std::min(equals + 1, piece.size())))).second) {
      malformed(fmt::format("the query says {} twice", name));
    }
  }
  return values;
}

std::string split_named(const std::string& name) {
  if (name != "train" && name != "validation" && name != "test") {
    malformed("split: train, validation or test is wanted");
  }
  return name;
}

// The one object of a body.
json object_of(const HttpRequest& request) {
  std::size_t values = 0;
  const auto bounded = [&](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) malformed(fmt::format("the body has more than {} values inside one another", kDeepest));
    if (++values > kMostValues) malformed(fmt::format("the body has more than {} values", kMostValues));
    return true;
  };
  json object;
  try {
    object = json::parse(request.body, bounded);
  } catch (const json::exception&) {
    malformed("the body is no JSON");
  }
  if (!object.is_object()) malformed("the body is no JSON object");
  return object;
}

// An object whose keys are all known.
class Members {
 public:
  Members(const json& object, std::string name, std::initializer_list<std::string_view> known)
      : object_(object), name_(std::move(name)) {
    if (!object.is_object()) malformed(fmt::format("{}: an object is wanted", name_));
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(known, std::string_view(key)) == known.end()) {
        malformed(fmt::format("{} has an unknown key {}", name_, in_quotes(key)));
      }
    }
  }

  // Null where it is not there.
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  std::int64_t number(const char* key, std::int64_t otherwise, std::int64_t least, std::int64_t most) const {
    const auto* const value = find(key);
    return value == nullptr ? otherwise : number_of(*value, key, least, most);
  }

  static std::int64_t number_of(const json& value, std::string_view name, std::int64_t least, std::int64_t most) {
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool whole =
        value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest);
    return in_range(whole ? std::optional(value.get<std::int64_t>()) : std::nullopt, name, least, most);
  }

 private:
  const json& object_;
  std::string name_;
};

// {"3": …}: values of numbered things.
template <typename Value>
std::map<std::int64_t, Value> numbered(const json* object, const char* name,
                                       const std::function<Value(const json&, const std::string&)>& read) {
  std::map<std::int64_t, Value> values;
  if (object == nullptr) return values;
  if (!object->is_object()) malformed(fmt::format("{}: an object is wanted", name));
  for (const auto& [key, value] : object->items()) {
    const auto number = whole_number(key);
    if (!number || *number < 0 || *number > kLargestIndex || std::to_string(*number) != key) {
      malformed(fmt::format("{}: its keys are numbers from 0 on, not {}", name, in_quotes(key)));
    }
    values.emplace(*number, read(value, fmt::format("{}.{}", name, *number)));
  }
  return values;
}

InputQuestion input_of(const json* object) {
  if (object == nullptr) malformed("input is missing");
  const Members members(*object, "input", {"split", "index", "parts", "numbers"});
  InputQuestion input;
  if (const auto* const split = members.find("split")) {
    if (!split->is_string()) malformed("split: train, validation or test is wanted");
    input.split = split_named(split->get<std::string>());
  }
  if (members.find("index") == nullptr) malformed("input: index is missing");
  input.index = members.number("index", 0, 0, kLargestIndex);
  input.parts = numbered<std::string>(members.find("parts"), "parts", [](const json& value, const std::string& name) {
    auto bytes = value.is_string() ? from_base64(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) malformed(fmt::format("{}: bytes in base64 are wanted", name));
    return *std::move(bytes);
  });
  input.numbers = numbered<double>(members.find("numbers"), "numbers", [](const json& value, const std::string& name) {
    constexpr double kLargest = 1e30;  // of a float, with room to compute
    if (!value.is_number() || !(std::abs(value.get<double>()) <= kLargest)) {
      malformed(fmt::format("{}: a number is wanted", name));
    }
    return value.get<double>();
  });
  return input;
}

OutputQuestion output_of(const json* value) {
  OutputQuestion output;
  if (value == nullptr || value->is_null()) return output;
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  if (value->is_string()) {
    output.text = value->get<std::string>();
    if (output.text->size() > kLongestOutput) malformed("output: it is too long");
  } else if (value->is_array() && value->size() <= kLongestOutput) {
    output.values.emplace();
    for (const auto& each : *value) output.values->push_back(Members::number_of(each, "output", -1, kFar));
  } else {
    malformed("output: a text or a list of values is wanted");
  }
  return output;
}

KnownValues known_of(const json* object) {
  return numbered<std::int64_t>(object, "known", [](const json& value, const std::string& name) {
    return Members::number_of(value, name, 0, kLargestIndex);
  });
}

Question read_predict(const HttpRequest& request) {
  const auto body = object_of(request);
  const Members members(body, "the body", {"input", "top"});
  return AskPredict{input_of(members.find("input")), members.number("top", 5, 1, kMostTop)};
}

Question read_explain(const HttpRequest& request) {
  const auto body = object_of(request);
  const Members members(body, "the body", {"input", "output", "top"});
  return AskExplain{input_of(members.find("input")), output_of(members.find("output")),
                    members.number("top", 5, 1, kMostTop)};
}

Question read_condition(const HttpRequest& request) {
  const auto body = object_of(request);
  const Members members(body, "the body", {"input", "known", "output", "top"});
  return AskCondition{input_of(members.find("input")), known_of(members.find("known")),
                      output_of(members.find("output")), members.number("top", 5, 1, kMostTop)};
}

Question read_rollout(const HttpRequest& request) {
  const auto body = object_of(request);
  const Members members(body, "the body", {"input", "known", "output"});
  return AskRollout{input_of(members.find("input")), known_of(members.find("known")),
                    output_of(members.find("output"))};
}

template <typename Asked>
Question read_nothing(const HttpRequest& request) {
  query_of(request, {});
  return Asked{};
}

Question read_examples(const HttpRequest& request) {
  auto query = query_of(request, {"split", "filter", "from", "count"});
  AskExamples asked;
  if (query.contains("split")) asked.split = split_named(query["split"]);
  if (query.contains("filter")) {
    static const std::map<std::string, ExampleFilter> kFilters{{"all", ExampleFilter::kAll},
                                                               {"wrong", ExampleFilter::kWrong},
                                                               {"unsure", ExampleFilter::kUnsure},
                                                               {"gap", ExampleFilter::kGap}};
    const auto found = kFilters.find(query["filter"]);
    if (found == kFilters.end()) malformed("filter: all, wrong, unsure or gap is wanted");
    asked.filter = found->second;
  }
  if (query.contains("from")) asked.from = in_range(whole_number(query["from"]), "from", 0, kLargestIndex);
  if (query.contains("count")) asked.count = in_range(whole_number(query["count"]), "count", 0, kMostRows);
  return asked;
}

Question read_input(const HttpRequest& request) {
  auto query = query_of(request, {"split", "index"});
  AskInput asked;
  if (query.contains("split")) asked.input.split = split_named(query["split"]);
  if (!query.contains("index")) malformed("index is missing");
  asked.input.index = in_range(whole_number(query["index"]), "index", 0, kLargestIndex);
  return asked;
}

Question read_training(const HttpRequest& request) {
  auto query = query_of(request, {"after"});
  AskTraining asked;
  if (query.contains("after")) asked.after = in_range(whole_number(query["after"]), "after", 0, kLargestIndex);
  return asked;
}

struct Address {
  std::string method;
  Question (*read)(const HttpRequest& request);
};

const std::map<std::string, Address, std::less<>>& addresses() {
  static const std::map<std::string, Address, std::less<>> all{
      {"/api/run", {"GET", read_nothing<AskRun>}},  {"/api/examples", {"GET", read_examples}},
      {"/api/input", {"GET", read_input}},          {"/api/swatches", {"GET", read_nothing<AskSwatches>}},
      {"/api/predict", {"POST", read_predict}},     {"/api/explain", {"POST", read_explain}},
      {"/api/condition", {"POST", read_condition}}, {"/api/rollout", {"POST", read_rollout}},
      {"/api/training", {"GET", read_training}},    {"/api/report", {"GET", read_nothing<AskReport>}},
  };
  return all;
}

// Names that a file of the page may have: no folders, nothing hidden.
bool is_file_name(std::string_view name) {
  const auto plain = [](char letter) {
    const auto low = small(letter);
    return (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') || low == '.' || low == '-' || low == '_';
  };
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' && std::ranges::all_of(name, plain);
}

std::string told_token(const HttpRequest& request) {
  if (request.path() != "/") return "";
  const auto query = request.query();
  constexpr std::string_view kName = "token=";
  return query.starts_with(kName) && query.find('&') == std::string_view::npos ? decoded(query.substr(kName.size()))
                                                                               : "";
}

bool has_token(const HttpRequest& request, const Site& site) {
  if (brings_token(request, site)) return true;
  if (const auto told = request.header("Authorization")) {
    constexpr std::string_view kScheme = "Bearer ";
    if (told->starts_with(kScheme) && same_secret(trimmed(told->substr(kScheme.size())), site.token)) return true;
  }
  for (const auto& [name, value] : request.headers) {
    if (!same_letters(name, "Cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto piece = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
      const auto cookie = trimmed(piece);
      const auto equals = cookie.find('=');
      if (equals == std::string_view::npos || cookie.substr(0, equals) != site.cookie) continue;
      if (same_secret(cookie.substr(equals + 1), site.token)) return true;
    }
  }
  return false;
}

// "192.168.1.7:8400" or "[fe80::1]:8400".
bool is_address_in_digits(std::string_view host, int port) {
  const auto end = fmt::format(":{}", port);
  if (!host.ends_with(end)) return false;
  host.remove_suffix(end.size());
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  return !host.empty() &&
         host.find_first_not_of(bracketed ? "0123456789abcdefABCDEF:." : "0123456789.") == std::string_view::npos;
}

void check_origin(const HttpRequest& request, const Site& site) {
  const auto ours = [&](std::string_view host) {
    return std::ranges::any_of(site.hosts, [&](const std::string& each) { return same_letters(each, host); }) ||
           (site.any_address_with_port && is_address_in_digits(host, *site.any_address_with_port));
  };
  const auto host = request.header("Host");
  if (!host || !ours(trimmed(*host))) throw Refusal(403, "asked under another name than the server's");
  if (request.count("Origin") > 0) {
    constexpr std::string_view kScheme = "http://";
    const auto origin = request.header("Origin").value_or("");
    if (!origin.starts_with(kScheme) || !ours(origin.substr(kScheme.size()))) {
      throw Refusal(403, "asked from another origin");
    }
  }
  if (request.count("Sec-Fetch-Site") > 0) {
    const auto from = request.header("Sec-Fetch-Site").value_or("");
    if (from != "same-origin" && from != "none") throw Refusal(403, "asked from another origin");
  }
}

// Bodies have a length that is told before, and are JSON as it is.
void check_body(const HttpRequest& request) {
  if (request.count("Transfer-Encoding") > 0) malformed("a body needs a Content-Length, and is sent as a whole");
  if (request.count("Content-Encoding") > 0) throw Refusal(415, "a body that is encoded is not read");
  std::int64_t length = 0;
  if (request.count("Content-Length") > 0) {
    const auto told = request.header("Content-Length").value_or("");
    const bool digits = !told.empty() && told.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits) malformed("Content-Length: a whole number is wanted");
    length = whole_number(told).value_or(std::numeric_limits<std::int64_t>::max());
  }
  if (request.method != "POST") {
    if (length > 0) malformed("this method has no body");
    return;
  }
  if (request.count("Content-Length") == 0) malformed("a body needs a Content-Length, and is sent as a whole");
  if (length > static_cast<std::int64_t>(kLongestBody)) {
    throw Refusal(413, fmt::format("the body is too long; at most {} bytes are read", kLongestBody));
  }
  const auto type = request.header("Content-Type").value_or("");
  if (!same_letters(trimmed(type.substr(0, type.find(';'))), "application/json")) {
    throw Refusal(415, "the body is to be application/json");
  }
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [each, value] : headers) {
    if (!same_letters(each, name)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [&](const auto& header) { return same_letters(header.first, name); }));
}

std::string_view HttpRequest::path() const { return std::string_view(target).substr(0, target.find('?')); }

std::string_view HttpRequest::query() const {
  const auto mark = target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

bool same_secret(std::string_view one, std::string_view other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t at = 0; at < one.size(); ++at) {
    const auto there = other.empty() ? '\0' : other[at % other.size()];
    difference |= static_cast<unsigned char>(one[at]) ^ static_cast<unsigned>(static_cast<unsigned char>(there));
  }
  return difference == 0;
}

bool brings_token(const HttpRequest& request, const Site& site) {
  return !site.token.empty() && same_secret(told_token(request), site.token);
}

void check_head(const HttpRequest& request, const Site& site) {
  if (request.target.size() > kLongestTarget) throw Refusal(414, "the address is too long");
  const bool plain = std::ranges::all_of(request.target, [](char letter) { return letter > ' ' && letter < '\x7f'; });
  if (!request.target.starts_with('/') || !plain) malformed("the address is none");
  check_origin(request, site);
  if (!site.token.empty() && !has_token(request, site)) {
    throw Refusal(401, "a token is needed; open the address that `anesi serve` printed");
  }
  const auto known = addresses().find(request.path());
  const std::string_view wanted = known == addresses().end() ? std::string_view("GET") : known->second.method;
  if (request.method != wanted) throw Refusal(405, fmt::format("{} is wanted here", wanted));
  check_body(request);
}

Question read_question(const HttpRequest& request) {
  const auto path = request.path();
  const auto known = addresses().find(path);
  if (known != addresses().end()) {
    if (request.method != known->second.method) throw Refusal(405, known->second.method + " is wanted here");
    return known->second.read(request);
  }
  if (request.method != "GET") throw Refusal(405, "GET is wanted here");
  if (path == "/") {
    query_of(request, {"token"});
    return AskFile{"index.html"};
  }
  const auto name = path.substr(std::min<std::size_t>(path.size(), 1));
  if (path.empty() || !is_file_name(name)) throw Refusal(404, "there is nothing at this address");
  query_of(request, {});
  return AskFile{std::string(name)};
}

const std::vector<std::string>& posted_addresses() {
  static const std::vector<std::string> posted = [] {
    std::vector<std::string> found;
    for (const auto& [path, address] : addresses()) {
      if (address.method == "POST") found.push_back(path);
    }
    return found;
  }();
  return posted;
}

}  // namespace anesi::serve
