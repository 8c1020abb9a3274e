#include <array>
#include <cstdint>
#include <string>

#include "anesi/options/option_table.h"
#include "fuzz/target.h"

namespace anesi::fuzz {
namespace {

enum class Colour { kRed, kGreen };
constexpr std::array<std::string_view, 2> names_of(Colour) { return {"red", "green"}; }

// An option of every kind.
struct SomeOptions {
  std::int64_t digits = 4;
  double rate = 0.1;
  bool prunes = false;
  std::string from, schedule = "cosine";
  Colour colour = Colour::kRed;

  void describe(OptionTable& table) {
    table.add("digits", digits, {1, 1000}, "a whole number");
    table.add("rate", rate, {0, 1}, "a number");
    table.add("prunes", prunes, "a truth");
    table.add("from", from, {}, "any text");
    table.add("schedule", schedule, {"cosine", "constant"}, "one of some texts");
    table.add("colour", colour, "a choice");
  }
};

}  // namespace

ANESI_FUZZ_TARGET("config", [](std::string_view input) {
  SomeOptions options;
  OptionTable table;
  table.add_group("task", options);
  table.load_toml(input, "config.toml");
  // What was accepted is within its range, and comes back as it was.
  expect(options.digits >= 1 && options.digits <= 1000 && options.rate >= 0 && options.rate <= 1, "ranges are kept");
  SomeOptions again;
  OptionTable other;
  other.add_group("task", again);
  other.load_toml(table.to_toml(), "config.toml");
  expect(other.to_toml() == table.to_toml(), "what is written is read");
});

}  // namespace anesi::fuzz
