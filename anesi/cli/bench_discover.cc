#include "anesi/cli/bench_discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "anesi/cli/command.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/index.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/discover/discover.h"
#include "anesi/discover/find_tables.h"
#include "anesi/io/thousands.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/run/configuration.h"

namespace anesi::cli {
namespace {

using WorldFunction = std::function<void(Values world, MutableValues output)>;

constexpr std::int64_t kFreshWorlds = 20000;
constexpr std::uint64_t kSeedOfSearch = 1, kSeedOfFreshWorlds = 2, kSeedOfShuffle = 3;
constexpr double kShortTime = 10, kUsualTime = 20, kLongTime = 60;  // seconds

struct BlackBox {
  std::string name;
  std::shared_ptr<const Problem> problem;
  double seconds = kUsualTime;
  std::optional<WorldSource> source = {};
};

BlackBox box(std::string name, Space worlds, Space outputs, WorldFunction function, double seconds = kUsualTime) {
  return {std::move(name), make_problem(std::move(worlds), std::move(outputs), std::move(function)), seconds};
}

// A function with one output.
BlackBox box_of_one(std::string name, Space worlds, std::int64_t values, std::function<std::int64_t(Values)> function,
                    double seconds = kUsualTime) {
  return box(
      std::move(name), std::move(worlds), Space{values},
      [function = std::move(function)](Values world, MutableValues output) { output[0] = function(world); }, seconds);
}

// The same function, its world variables and its outputs in another order.
class Shuffled final : public Problem {
 public:
  Shuffled(std::shared_ptr<const Problem> straight, std::mt19937_64 random)
      : straight_(std::move(straight)),
        reads_(shuffled_places(straight_->worlds().variables(), random)),
        writes_(shuffled_places(straight_->outputs().variables(), random)),
        worlds_(moved(straight_->worlds(), reads_)),
        outputs_(moved(straight_->outputs(), writes_)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override {
    Points moved(worlds.size(), worlds.width());
    for (std::int64_t row = 0; row < worlds.size(); ++row) {
      for (std::size_t place = 0; place < reads_.size(); ++place)
        moved[row][place] = worlds[row][as_size(reads_[place])];
    }
    const auto straight = anesi::apply(*straight_, moved);
    for (std::int64_t row = 0; row < worlds.size(); ++row) {
      for (std::size_t place = 0; place < writes_.size(); ++place) {
        outputs[row][as_size(writes_[place])] = straight[row][place];
      }
    }
  }

 private:
  static std::vector<std::int64_t> shuffled_places(std::int64_t count, std::mt19937_64& random) {
    std::vector<std::int64_t> places(as_size(count));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::shuffle(places, random);
    return places;
  }
  static Space moved(const Space& space, const std::vector<std::int64_t>& places) {
    std::vector<std::int64_t> domains(places.size());
    for (std::size_t place = 0; place < places.size(); ++place)
      domains[as_size(places[place])] = space.domains()[place];
    return Space(domains);
  }

  std::shared_ptr<const Problem> straight_;
  std::vector<std::int64_t> reads_, writes_;  // where each variable of the straight function is
  Space worlds_, outputs_;
};

BlackBox shuffled(const BlackBox& straight) {
  return {straight.name + ", shuffled", std::make_shared<Shuffled>(straight.problem, std::mt19937_64(kSeedOfShuffle)),
          straight.seconds};
}

std::int64_t total(Values world) { return std::accumulate(world.begin(), world.end(), std::int64_t{0}); }

// Digits of a number, the last one last.
void write_digits(std::int64_t number, MutableValues digits) {
  for (auto place = digits.size(); place-- > 0; number /= 10) digits[place] = number % 10;
}

std::int64_t number_from(Values digits) {
  std::int64_t number = 0;
  for (const auto digit : digits) number = 10 * number + digit;
  return number;
}

BlackBox addition(std::int64_t digits) {
  std::vector<std::int64_t> domains(as_size(digits) + 1, 10);
  domains[0] = 2;
  return box(fmt::format("add two {}-digit numbers", digits), Space::uniform(2 * digits, 10), Space(domains),
             [length = as_size(digits)](Values world, MutableValues output) {
               std::int64_t carry = 0;
               for (auto place = length; place-- > 0;) {
                 const auto sum = world[place] + world[length + place] + carry;
                 output[place + 1] = sum % 10;
                 carry = sum / 10;
               }
               output[0] = carry;
             });
}

BlackBox sum_of(std::int64_t digits, double seconds = kUsualTime) {
  return box_of_one(fmt::format("sum of {} digits", digits), Space::uniform(digits, 10), 9 * digits + 1, total,
                    seconds);
}

BlackBox product(std::int64_t digits, double seconds) {
  return box(
      fmt::format("product of two {}-digit numbers", digits), Space::uniform(2 * digits, 10),
      Space::uniform(2 * digits, 10),
      [length = as_size(digits)](Values world, MutableValues output) {
        write_digits(number_from(world.first(length)) * number_from(world.subspan(length)), output);
      },
      seconds);
}

// Every second digit counts twice, less nine where that has two digits.
std::int64_t luhn(Values world) {
  std::int64_t sum = 0;
  for (std::size_t place = 0; place < world.size(); ++place) {
    const auto counted = place % 2 == 0 ? 2 * world[place] : world[place];
    sum += counted / 10 + counted % 10;
  }
  return sum % 10 == 0 ? 1 : 0;
}

std::int64_t isbn(Values world) {
  std::int64_t sum = 0;
  for (std::size_t place = 0; place < world.size(); ++place)
    sum += static_cast<std::int64_t>(world.size() - place) * world[place];
  return sum % 11 == 0 ? 1 : 0;
}

// The value at a place once all are sorted.
std::function<std::int64_t(Values)> ranked(std::size_t place) {
  return [place](Values world) {
    std::vector<std::int64_t> values(world.begin(), world.end());
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
    return values[place];
  };
}

std::int64_t different_values(Values world) {
  std::uint64_t seen = 0;
  for (const auto value : world) seen |= std::uint64_t{1} << static_cast<std::uint64_t>(value);
  return std::popcount(seen);
}

// 0, 1 or 2 where the first number is smaller, equal or larger.
std::int64_t compare(Values world) {
  const auto length = world.size() / 2;
  for (std::size_t place = 0; place < length; ++place) {
    if (world[place] != world[length + place]) return world[place] > world[length + place] ? 2 : 0;
  }
  return 1;
}

std::int64_t contains_pattern(Values world) {
  constexpr std::array<std::int64_t, 3> kPattern{3, 1, 4};
  return std::ranges::search(world, kPattern).empty() ? 0 : 1;
}

// Numbers with an operator, one of + - x, between any two.
Space formula_space(std::int64_t numbers) {
  std::vector<std::int64_t> domains{10};
  for (std::int64_t number = 1; number < numbers; ++number) domains.insert(domains.end(), {3, 10});
  return Space(domains);
}

std::int64_t formula_left_to_right(Values world) {
  auto value = world[0];
  for (std::size_t place = 1; place < world.size(); place += 2) {
    const auto number = world[place + 1];
    value = world[place] == 0 ? value + number : world[place] == 1 ? value - number : value * number;
    value = (value % 100 + 100) % 100;
  }
  return value;
}

// From -729 = 0 - 9 x 9 x 9 to 6561, counted from 0.
constexpr std::int64_t kLeastOfFormula = -729, kMostOfFormula = 6561;

std::int64_t formula_with_precedence(Values world) {
  std::int64_t sum = 0, product = world[0];
  for (std::size_t place = 1; place < world.size(); place += 2) {
    const auto number = world[place + 1];
    if (world[place] == 2) {
      product *= number;
    } else {
      sum += product;
      product = world[place] == 0 ? number : -number;
    }
  }
  return sum + product - kLeastOfFormula;
}

// A cell is empty, X or O.
std::int64_t x_has_won(Values world) {
  constexpr std::array<std::array<std::size_t, 3>, 8> kLines{
      {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};
  const auto all_x = [&](const auto& line) {
    return std::ranges::all_of(line, [&](std::size_t cell) { return world[cell] == 1; });
  };
  return std::ranges::any_of(kLines, all_x) ? 1 : 0;
}

// Cells that share a row, a column or a box.
std::vector<VariablePair> cells_together(std::int64_t side, std::int64_t box) {
  std::vector<VariablePair> pairs;
  const auto box_of = [&](std::int64_t cell) { return std::pair(cell / side / box, cell % side / box); };
  for (std::int64_t one = 0; one < side * side; ++one) {
    for (auto other = one + 1; other < side * side; ++other) {
      if (one / side == other / side || one % side == other % side || box_of(one) == box_of(other))
        pairs.push_back({one, other});
    }
  }
  return pairs;
}

BlackBox pairs_of_sudoku() {
  const auto pairs = cells_together(9, 3);
  return box("9x9 sudoku, 810 pairs of cells", Space::uniform(81, 9),
             Space::uniform(static_cast<std::int64_t>(pairs.size()), 2), [pairs](Values world, MutableValues output) {
               for (std::size_t pair = 0; pair < pairs.size(); ++pair)
                 output[pair] = world[as_size(pairs[pair][0])] != world[as_size(pairs[pair][1])] ? 1 : 0;
             });
}

// Valid grids are so rare that only a perception which is nearly right shows any: here one that believes in the right
// digit with 90 %.
BlackBox sudoku_is_valid() {
  constexpr std::int64_t kSide = 4;
  constexpr double kBelieved = 0.9;
  const auto pairs = cells_together(kSide, 2);
  const auto valid = [pairs](Values world, std::int64_t filled) {
    return std::ranges::none_of(pairs, [&](const VariablePair& pair) {
      return pair[1] < filled && world[as_size(pair[0])] == world[as_size(pair[1])];
    });
  };
  std::vector<std::vector<std::int64_t>> grids{std::vector<std::int64_t>(kSide * kSide, 0)};
  for (std::int64_t cell = 0; cell < kSide * kSide; ++cell) {
    std::vector<std::vector<std::int64_t>> longer;
    for (auto grid : grids) {
      for (grid[as_size(cell)] = 0; grid[as_size(cell)] < kSide; ++grid[as_size(cell)]) {
        if (valid(grid, cell + 1)) longer.push_back(grid);
      }
    }
    grids = std::move(longer);
  }
  std::vector<double> logs;  // [grids, cells, digits]
  for (const auto& grid : grids) {
    for (const auto digit : grid) {
      for (std::int64_t other = 0; other < kSide; ++other) {
        logs.push_back(std::log(other == digit ? kBelieved : (1 - kBelieved) / (kSide - 1)));
      }
    }
  }
  auto found = box_of_one("4x4 sudoku is valid, perceived", Space::uniform(kSide * kSide, kSide), 2,
                          [valid](Values world) { return valid(world, kSide * kSide) ? 1 : 0; });
  found.source =
      WorldSource{worlds_of_beliefs({logs.data(), std::ssize(grids), kSide * kSide, kSide}, found.problem->worlds()),
                  "beliefs in valid grids"};
  return found;
}

// Paths of the task warcraft between two corners, the rest of a shorter one filled with a direction of its own: all
// outputs are of one length.
class FilledPaths final : public Problem {
 public:
  explicit FilledPaths(std::shared_ptr<const Problem> paths)
      : paths_(std::move(paths)), outputs_(Space::uniform(paths_->outputs().variables(), kDirections + 1)) {}
  const Space& worlds() const override { return paths_->worlds(); }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override {
    paths_->apply(worlds, outputs);
    std::ranges::replace(outputs.values(), kNone, kDirections);
  }

 private:
  std::shared_ptr<const Problem> paths_;
  Space outputs_;
};

std::vector<BlackBox> black_boxes() {
  std::vector<BlackBox> boxes;
  for (const std::int64_t digits : {15, 100}) {
    boxes.push_back(addition(digits));
    boxes.push_back(shuffled(boxes.back()));
  }
  boxes.push_back(sum_of(16));
  boxes.push_back(sum_of(64));
  boxes.push_back(sum_of(256, kLongTime));
  boxes.push_back(box_of_one("parity of 40", Space::uniform(40, 2), 2, [](Values world) { return total(world) % 2; }));
  boxes.push_back(box_of_one("12 digits, divisible by 7", Space::uniform(12, 10), 2,
                             [](Values world) { return number_from(world) % 7 == 0 ? 1 : 0; }));
  boxes.push_back(box_of_one("Luhn check of 16", Space::uniform(16, 10), 2, luhn));
  std::vector<std::int64_t> isbn_domains(10, 10);
  isbn_domains.back() = 11;  // X
  boxes.push_back(box_of_one("ISBN-10 check", Space(isbn_domains), 2, isbn));
  boxes.push_back(
      box_of_one("max of 20", Space::uniform(20, 10), 10, [](Values world) { return std::ranges::max(world); }));
  boxes.push_back(box_of_one("median of 9", Space::uniform(9, 10), 10, ranked(4)));
  boxes.push_back(box_of_one("second largest of 12", Space::uniform(12, 10), 10, ranked(10)));
  boxes.push_back(box_of_one("all different, 8 of 8", Space::uniform(8, 8), 2,
                             [](Values world) { return different_values(world) == 8 ? 1 : 0; }));
  boxes.push_back(box_of_one("compare two 8-digit numbers", Space::uniform(16, 10), 3, compare));
  boxes.push_back(shuffled(boxes.back()));
  boxes.push_back(box_of_one("12 digits, contains 3 1 4", Space::uniform(12, 10), 2, contains_pattern));
  boxes.push_back(shuffled(boxes.back()));
  boxes.push_back(box_of_one("formula of 7, left to right, mod 100", formula_space(7), 100, formula_left_to_right));
  boxes.push_back(box_of_one("formula of 4, with precedence", formula_space(4), kMostOfFormula - kLeastOfFormula + 1,
                             formula_with_precedence));
  boxes.push_back(box_of_one("tic-tac-toe, X has won", Space::uniform(9, 3), 2, x_has_won));
  boxes.push_back(
      box("5 digits, sorted", Space::uniform(5, 10), Space::uniform(5, 10), [](Values world, MutableValues output) {
        std::ranges::copy(world, output.begin());
        std::ranges::sort(output);
      }));
  boxes.push_back(box_of_one("cards that pair with another, of 5", Space::uniform(5, 13), 5,
                             [](Values world) { return 5 - different_values(world); }));
  boxes.push_back(sudoku_is_valid());
  boxes.push_back(pairs_of_sudoku());
  boxes.push_back(product(2, kUsualTime));
  boxes.push_back(product(3, kShortTime));
  Configuration warcraft("warcraft");
  warcraft.table().set("task.size", "12");
  const auto paths = warcraft.make_task({}).problem;
  boxes.push_back({"warcraft 12x12, the task itself", paths, kShortTime});
  boxes.push_back({"warcraft 12x12, shortest path", std::make_shared<FilledPaths>(paths), kShortTime});
  return boxes;
}

// Of fresh worlds: those on which what was found and c differ.
std::int64_t wrong_of_fresh(const BlackBox& black_box, const Discovery& found) {
  const auto& space = black_box.problem->worlds();
  const auto draw = black_box.source ? black_box.source->draw : mixed_worlds_of(space);
  Random random(kSeedOfFreshWorlds);
  const auto worlds = draw(kFreshWorlds, random);
  const auto outputs = found.automaton ? found.automaton->run(worlds) : look_up(*found.tables, worlds, space);
  return std::ssize(differing_rows(outputs, apply(*black_box.problem, worlds)));
}

}  // namespace

void bench_discover(bool json) {
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("{:<38}{:<11}{:>7}{:>7}  {:<21}{:>7}{:>13}{:>9}{:>10}{:>7}\n", "", "found", "states",
                             "kinds", "order", "rounds", "calls", "seconds", "bound", "wrong");
  }
  for (const auto& black_box : black_boxes()) {
    DiscoverOptions options;
    options.limits.seconds = black_box.seconds;
    const auto found = discover(*black_box.problem, options, kSeedOfSearch, black_box.source);
    nlohmann::ordered_json row{{"name", black_box.name}, {"found", nullptr},         {"states", nullptr},
                               {"kinds", nullptr},       {"order", nullptr},         {"rounds", found.rounds},
                               {"calls", found.calls},   {"seconds", found.seconds}, {"bound", nullptr},
                               {"wrong", nullptr},       {"of", kFreshWorlds},       {"reason", nullptr}};
    std::string what = "none", states = "-", kinds = "-", order = "-", bound = "-", wrong = "-";
    if (found.automaton || found.tables) {
      what = found.automaton ? "automaton" : "tables";
      row["found"] = what;
      row["wrong"] = wrong_of_fresh(black_box, found);
      wrong = row["wrong"].dump();
    }
    if (found.automaton) {
      row["states"] = std::ranges::max(found.automaton->widths());
      row["kinds"] = found.automaton->reading().kinds();
      row["order"] = order = found.order_by;
      states = row["states"].dump();
      kinds = row["kinds"].dump();
    }
    if (found.certificate) {
      row["bound"] = found.certificate->bound;
      bound = fmt::format("{:.1e}", found.certificate->bound);
    }
    if (!found.reason.empty()) row["reason"] = found.reason;
    rows.push_back(row);
    if (json) continue;
    std::cout << fmt::format("{:<38}{:<11}{:>7}{:>7}  {:<21}{:>7}{:>13}{:>9.2f}{:>10}{:>7}\n", black_box.name, what,
                             states, kinds, order, found.rounds, thousands(static_cast<std::uint64_t>(found.calls)),
                             found.seconds, bound, wrong);
    if (!found.reason.empty()) std::cout << "    " << found.reason << '\n';
    std::cout << std::flush;
  }
  if (json) {
    print_json(nlohmann::ordered_json{{"discover", rows}});
  } else {
    std::cout << fmt::format("wrong: of {} fresh worlds; bound: on that share, with 95 %\n",
                             thousands(static_cast<std::uint64_t>(kFreshWorlds)));
  }
}

}  // namespace anesi::cli
