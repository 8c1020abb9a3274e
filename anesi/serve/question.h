// What somebody asks over HTTP, read: a request becomes a question of a known kind, or is refused.
//
// Whatever does not depend on the run is checked here: where a request comes from, addresses, methods, sizes, types,
// ranges, unknown keys (docs/page.md says which there are). Nothing here needs libtorch or the HTTP library, so that a
// fuzzer can drive all of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "anesi/core/error.h"

namespace anesi::serve {

inline constexpr std::size_t kLongestBody = std::size_t{4} << 20;
inline constexpr std::size_t kLongestTarget = 8192;
inline constexpr std::int64_t kMostRows = 200;  // of /api/examples
inline constexpr std::int64_t kMostTop = 100;   // outputs or worlds of one answer

// A request that is not answered as it was meant: the status says why, the message is one line for people.
class Refusal : public Error {
 public:
  Refusal(int status, const std::string& message) : Error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

struct HttpRequest {
  std::string method, target;  // "GET", "/api/input?index=7" as it was sent
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The header's value; empty where it is not there or there are several.
  std::optional<std::string_view> header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  std::string_view path() const;   // before the question mark
  std::string_view query() const;  // after it
};

// Who may ask.
struct Site {
  std::vector<std::string> hosts;  // names that the server goes by, with its port: "127.0.0.1:8400", in small letters
  // Where the server listens on all addresses: any that is written in digits will do, with this port. (A name might be
  // somebody else's, who lets it point here.)
  std::optional<int> any_address_with_port = {};
  std::string token = {};   // empty: none is needed
  std::string cookie = {};  // under which name browsers keep the token
};

// Refuses requests that are not answered whatever is in their body: from other origins, under other names, without the
// token, too long, of another type. Throws Refusal.
void check_head(const HttpRequest& request, const Site& site);
// Whether the target itself tells the token, and tells it right: then the browser may keep it.
bool brings_token(const HttpRequest& request, const Site& site);
// Takes as long wherever they differ.
bool same_secret(std::string_view one, std::string_view other);

// An example of the data, perhaps changed.
struct InputQuestion {
  std::string split = "test";
  std::int64_t index = 0;
  std::map<std::int64_t, std::string> parts = {};  // bytes of images that were drawn over
  std::map<std::int64_t, double> numbers = {};

  bool changed() const { return !parts.empty() || !numbers.empty(); }
};

// An output as people write it, or as values; neither: the one that is predicted.
struct OutputQuestion {
  std::optional<std::string> text = {};
  std::optional<std::vector<std::int64_t>> values = {};

  bool given() const { return text || values; }
};

using KnownValues = std::map<std::int64_t, std::int64_t>;  // of world variables

enum class ExampleFilter { kAll, kWrong, kUnsure, kGap };

struct AskFile {
  std::string name;  // of the page: "index.html", "page.css"
};
struct AskRun {};
struct AskExamples {
  std::string split = "test";
  ExampleFilter filter = ExampleFilter::kAll;
  std::int64_t from = 0, count = 24;
};
struct AskInput {
  InputQuestion input;
};
struct AskSwatches {};
struct AskPredict {
  InputQuestion input;
  std::int64_t top = 5;
};
struct AskExplain {
  InputQuestion input;
  OutputQuestion output;
  std::int64_t top = 5;
};
struct AskCondition {
  InputQuestion input;
  KnownValues known;
  OutputQuestion output;
  std::int64_t top = 5;
};
struct AskRollout {
  InputQuestion input;
  KnownValues known;
  OutputQuestion output;
};
struct AskTraining {
  std::int64_t after = 0;
};
struct AskReport {};

using Question = std::variant<AskFile, AskRun, AskExamples, AskInput, AskSwatches, AskPredict, AskExplain, AskCondition,
                              AskRollout, AskTraining, AskReport>;

// Throws Refusal: 404 or 405 where there is no such address, 400 where the question is malformed.
Question read_question(const HttpRequest& request);
// The addresses that are posted to.
const std::vector<std::string>& posted_addresses();

}  // namespace anesi::serve
