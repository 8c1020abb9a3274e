#include "anesi/models/saved_formula.h"

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

torch::Tensor tensor_of_lists(const LiteralLists& lists) {
  std::vector<std::int32_t> numbers;
  for (const auto& list : lists) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    numbers.push_back(0);
  }
  return torch::tensor(numbers, torch::kInt32);
}

[[noreturn]] void fail_at_damage() { throw Error("found facts: the formula is damaged"); }

torch::Tensor one_row(const NamedTensors& saved, const char* name, torch::ScalarType type) {
  const auto place = saved.find(name);
  if (place == saved.end() || place->second.scalar_type() != type || place->second.dim() != 1) fail_at_damage();
  return place->second.contiguous();
}

LiteralLists lists_of(const NamedTensors& saved, const char* name, int variables) {
  const auto numbers = one_row(saved, name, torch::kInt32);
  const std::span all(numbers.const_data_ptr<std::int32_t>(), static_cast<std::size_t>(numbers.numel()));
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

torch::Tensor tensor_of_text(const std::string& text) {
  return torch::tensor(std::vector<std::uint8_t>(text.begin(), text.end()), torch::kUInt8);
}

}  // namespace

void save_formula(const Problem& problem, NamedTensors& tensors) {
  const auto* const cnf = problem.facts().find<Cnf>();
  const auto* const compiled = problem.facts().find<CompiledFormula>();
  if (cnf == nullptr && compiled == nullptr) return;
  const auto& encoding = compiled != nullptr ? compiled->encoding : cnf->encoding();
  const auto variables = compiled != nullptr ? compiled->circuit.variables() : cnf->variables();
  tensors["formula.variables"] = torch::tensor({std::int64_t{variables}});
  tensors["formula.worlds"] = tensor_of_lists(encoding.worlds);
  tensors["formula.outputs"] = tensor_of_lists(encoding.outputs);
  if (cnf != nullptr) {
    const auto clauses = tensor_of_lists(cnf->clauses());
    if (clauses.nbytes() <= kMostBytesOfFormula) tensors["formula.clauses"] = clauses;
  }
  // A node takes more than four characters.
  if (compiled != nullptr && static_cast<std::size_t>(compiled->circuit.nodes()) <= kMostBytesOfFormula / 4) {
    const auto text = to_nnf(compiled->circuit);
    if (text.size() <= kMostBytesOfFormula) tensors["formula.circuit"] = tensor_of_text(text);
  }
}

bool names_formula(const NamedTensors& saved) { return saved.contains("formula.variables"); }

void load_formula(const NamedTensors& saved, const Space& worlds, const Space& outputs, Facts& facts) {
  if (!names_formula(saved)) return;
  const auto numbers = one_row(saved, "formula.variables", torch::kInt64);
  if (numbers.numel() != 1) fail_at_damage();
  const auto count = numbers.item<std::int64_t>();
  if (count < 1 || count > std::numeric_limits<int>::max() / 2) fail_at_damage();
  const auto variables = static_cast<int>(count);
  const Encoding encoding{.worlds = lists_of(saved, "formula.worlds", variables),
                          .outputs = lists_of(saved, "formula.outputs", variables)};
  if (!encoding.fits(worlds, outputs)) throw Error("found facts: the formula is of other variables than the problem");
  if (saved.contains("formula.clauses")) {
    facts.with(Cnf(encoding, variables, lists_of(saved, "formula.clauses", variables)));
  }
  if (saved.contains("formula.circuit")) {
    const auto text = one_row(saved, "formula.circuit", torch::kUInt8);
    const std::string_view view(reinterpret_cast<const char*>(text.const_data_ptr<std::uint8_t>()),
                                static_cast<std::size_t>(text.numel()));
    auto circuit = parse_nnf(view, "found facts: the circuit", variables);
    facts.with(CompiledFormula{std::move(circuit), encoding});
  }
}

}  // namespace anesi
