#include "anesi/exact/saved_formula.h"

#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/compiled_formula.h"

namespace anesi {
namespace {

// Lists of literals one after another, each ended by 0.
using LiteralLists = std::vector<std::vector<int>>;

Array array_of_lists(const LiteralLists& lists) {
  std::vector<std::int32_t> numbers;
  for (const auto& list : lists) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    numbers.push_back(0);
  }
  return Array::of<std::int32_t>({std::ssize(numbers)}, numbers);
}

[[noreturn]] void fail_at_damage() { throw Error("found facts: the formula is damaged"); }

template <typename T>
std::span<const T> one_row(const NamedArrays& saved, const char* name) {
  const auto place = saved.find(name);
  if (place == saved.end() || place->second.type() != number_type<T>() || place->second.dimensions() != 1) {
    fail_at_damage();
  }
  return place->second.values<T>();
}

LiteralLists lists_of(const NamedArrays& saved, const char* name, int variables) {
  const auto all = one_row<std::int32_t>(saved, name);
  if (!all.empty() && all.back() != 0) fail_at_damage();
  LiteralLists lists;
  std::vector<int> list;
  for (const auto literal : all) {
    if (literal == 0) {
      lists.push_back(std::exchange(list, {}));
    } else if (literal < -variables || literal > variables) {
      fail_at_damage();
    } else {
      list.push_back(literal);
    }
  }
  return lists;
}

Array array_of_text(const std::string& text) {
  const std::vector<std::uint8_t> letters(text.begin(), text.end());
  return Array::of<std::uint8_t>({std::ssize(letters)}, letters);
}

}  // namespace

void save_formula(const Problem& problem, NamedArrays& arrays) {
  const auto* const cnf = problem.facts().find<Cnf>();
  const auto* const compiled = problem.facts().find<CompiledFormula>();
  if (cnf == nullptr && compiled == nullptr) return;
  const auto& encoding = compiled != nullptr ? compiled->encoding : cnf->encoding();
  const auto variables = compiled != nullptr ? compiled->circuit.variables() : cnf->variables();
  const std::vector<std::int64_t> count{variables};
  arrays["formula.variables"] = Array::of<std::int64_t>({1}, count);
  arrays["formula.worlds"] = array_of_lists(encoding.worlds);
  arrays["formula.outputs"] = array_of_lists(encoding.outputs);
  if (cnf != nullptr) {
    const auto clauses = array_of_lists(cnf->clauses());
    if (static_cast<std::size_t>(clauses.bytes()) <= kMostBytesOfFormula) arrays["formula.clauses"] = clauses;
  }
  // A node takes more than four characters.
  if (compiled != nullptr && static_cast<std::size_t>(compiled->circuit.nodes()) <= kMostBytesOfFormula / 4) {
    const auto text = to_nnf(compiled->circuit);
    if (text.size() <= kMostBytesOfFormula) arrays["formula.circuit"] = array_of_text(text);
  }
}

bool names_formula(const NamedArrays& saved) { return saved.contains("formula.variables"); }

void load_formula(const NamedArrays& saved, const Space& worlds, const Space& outputs, Facts& facts) {
  if (!names_formula(saved)) return;
  const auto numbers = one_row<std::int64_t>(saved, "formula.variables");
  if (numbers.size() != 1) fail_at_damage();
  const auto count = numbers[0];
  if (count < 1 || count > std::numeric_limits<int>::max() / 2) fail_at_damage();
  const auto variables = static_cast<int>(count);
  const Encoding encoding{.worlds = lists_of(saved, "formula.worlds", variables),
                          .outputs = lists_of(saved, "formula.outputs", variables)};
  if (!encoding.fits(worlds, outputs)) throw Error("found facts: the formula is of other variables than the problem");
  if (saved.contains("formula.clauses")) {
    facts.with(Cnf(encoding, variables, lists_of(saved, "formula.clauses", variables)));
  }
  if (saved.contains("formula.circuit")) {
    const auto text = one_row<std::uint8_t>(saved, "formula.circuit");
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    auto circuit = parse_nnf(view, "found facts: the circuit", variables);
    facts.with(CompiledFormula{std::move(circuit), encoding});
  }
}

}  // namespace anesi
