// What outlives a Core: its state, for whoever resumes, and a saved model.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/printable.h"
#include "anesi/discover/find_tables.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/exact/saved_formula.h"
#include "anesi/formula/constraint.h"
#include "anesi/formula/formula.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/train/watch.h"
#include "core.h"
#include "labels.h"

namespace anesi::python {
namespace {

constexpr double kMostWorldsSaved = 1 << 16;
constexpr std::int64_t kMostWatched = 1'000'000;  // as discover.watched has it
constexpr const char* kGivenOption = "knowledge.given";

// c as a memory or tables that were found say.
class RememberedProblem final : public Problem {
 public:
  RememberedProblem(Space worlds, Space outputs, Facts facts)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)) {
    facts_ = std::move(facts);
  }
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override {
    const auto* const automaton = facts().find<Automaton>();
    const auto said =
        automaton != nullptr ? automaton->run(worlds) : look_up(*facts().find<OutputTables>(), worlds, worlds_);
    std::ranges::copy(said.values(), outputs.data());
  }

 private:
  Space worlds_, outputs_;
};

// What a function makes of all worlds: each output by all variables.
OutputTables tables_of(const torch::Tensor& outputs, const Problem& problem) {
  OutputTables tables;
  std::vector<std::int64_t> all(as_size(problem.worlds().variables()));
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t output = 0; output < outputs.size(1); ++output) {
    const auto column = values_of(outputs.select(1, output));
    tables.tables.push_back({all, {column.begin(), column.end()}});
  }
  return tables;
}

// c as a formula says that was saved; null where none was.
std::shared_ptr<const Problem> problem_of_formula(const Facts& facts) {
  const auto* const cnf = facts.find<Cnf>();
  const auto compiled = facts.share<CompiledFormula>();
  if (compiled && compiled->encoding.is_constraint()) return make_constraint(compiled);
  return cnf == nullptr ? nullptr : formula_problem(*cnf, /*seconds=*/0);
}

// How many variables of a saved model's worlds are given.
std::int64_t given_of(const SavedModel& saved) {
  const auto told = saved.options.find(kGivenOption);
  if (told == saved.options.end()) return 0;
  std::int64_t given = 0;
  const auto* const end = told->second.data() + told->second.size();
  const auto [stop, failure] = std::from_chars(told->second.data(), end, given);
  if (failure != std::errc() || stop != end || given < 0 || given > static_cast<std::int64_t>(saved.worlds.size())) {
    throw Error(fmt::format("{}: {} is no number of its world variables; the file is damaged",
                            (saved.directory / "manifest.json").string(), kGivenOption));
  }
  return given;
}

torch::Tensor text_tensor(const std::string& text) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return torch::tensor(bytes, torch::kUInt8);
}

// What a state must hold. Throws UsageError, which names it, where it is missing or of another type or shape.
torch::Tensor part_of(const NamedTensors& state, const std::string& name, torch::ScalarType type, std::int64_t dims) {
  const auto found = state.find(name);
  if (found == state.end()) throw UsageError(fmt::format("state: {} is missing; it is not a Knowledge's", name));
  if (found->second.scalar_type() != type || found->second.dim() != dims) {
    throw UsageError(fmt::format("state: {} is of another type or shape", name));
  }
  return found->second;
}

std::string text_of(const NamedTensors& state, const std::string& name) {
  const auto bytes = part_of(state, name, torch::kUInt8, 1).contiguous();
  const auto* const begin = bytes.const_data_ptr<std::uint8_t>();
  std::string text(begin, begin + bytes.numel());
  if (printable(text) != text) throw UsageError(fmt::format("state: {} is no text", name));
  return text;
}

std::int64_t count_of(const NamedTensors& state, const std::string& name) {
  const auto count = part_of(state, name, torch::kInt64, 0).item<std::int64_t>();
  if (count < 0) throw UsageError(fmt::format("state: {} is {}", name, count));
  return count;
}

torch::Tensor generator_of(const NamedTensors& state, const at::Generator& like) {
  auto saved = part_of(state, "generator", torch::kUInt8, 1);
  try {
    like.clone().set_state(saved);
  } catch (const c10::Error&) {
    throw UsageError("state: generator is not a generator's");
  }
  return saved;
}

// Throws UsageError where the state has some of what was found here, and not all. The tables of an automaton may be
// others, since it grows.
void require_whole(const NamedTensors& facts, const NamedTensors& own) {
  if (facts.empty()) return;
  for (const auto& [name, tensor] : own) {
    const bool is_table = name.starts_with("automaton.") && name != "automaton.start";
    if (!is_table && !facts.contains(name)) throw UsageError(fmt::format("state: found.{} is missing", name));
  }
}

void require_numbers(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_floating_point() && tensor.isnan().any().item<bool>()) {
      throw UsageError(fmt::format("state: {} has what is not a number", name));
    }
  }
}

}  // namespace

NamedTensors Core::state() const {
  auto state = learned();
  state["generator"] = knowledge_.generator.get_state();
  state["grown"] = torch::tensor(knowledge_.grown, torch::kInt64);
  state["watching"] = torch::tensor(knowledge_.watched.worlds, torch::kInt64);
  if (options_->q.every > 1) state["steps"] = torch::tensor(steps_, torch::kInt64);
  if (unwatched_.defined()) state["unwatched"] = unwatched_;
  add_with_prefix(state, "found.", tensors_of(found_facts_of(problem())));
  state["reason"] = text_tensor(choice_.reason);
  state["architecture"] = text_tensor(choice_.architecture);
  return copied(state);
}

void Core::load_learned(const NamedTensors& state) {
  load_model_tensors(knowledge_.model, state, "state");
  if (knowledge_.learns_q) knowledge_.loss->load_state(with_prefix(state, "loss."));
}

NamedTensors Core::learned() const {
  NamedTensors state;
  add_with_prefix(state, "", model_tensors(knowledge_.model));
  if (knowledge_.learns_q) add_with_prefix(state, "loss.", knowledge_.loss->state());
  return state;
}

// All is looked at before anything changes: after an error, everything is as it was.
void Core::load_state(const NamedTensors& state) {
  const c10::InferenceMode ordinary(false);
  const auto architecture = text_of(state, "architecture"), reason = text_of(state, "reason");
  if (architecture != choice_.architecture) {
    throw UsageError(
        fmt::format("state: it is of a q of architecture {}, and this one is {}", architecture, choice_.architecture));
  }
  const auto generator = generator_of(state, knowledge_.generator);
  const auto grown = count_of(state, "grown"), watching = count_of(state, "watching");
  const auto steps = options_->q.every > 1 ? count_of(state, "steps") : 0;
  const auto facts = copied(with_prefix(state, "found.")), own = tensors_of(found_facts_of(problem()));
  require_whole(facts, own);
  const bool takes_facts = choice_.architecture == kExactArchitecture && !facts.empty();
  const auto problem =
      takes_facts ? with_found_facts(knowledge_.problem, arrays_of(facts), reason) : knowledge_.problem;
  const auto is_here = [&](const auto& entry) {
    const auto here = own.find(entry.first);
    return here != own.end() && here->second.scalar_type() == entry.second.scalar_type() &&
           torch::equal(here->second, entry.second);
  };
  if (choice_.architecture != kExactArchitecture &&
      (facts.size() != own.size() || !std::ranges::all_of(facts, is_here))) {
    throw UsageError("state: what was found of the function is not what was found here");
  }
  if (watching > kMostWatched || (watching > 0 && problem->facts().find<Automaton>() == nullptr)) {
    throw UsageError(fmt::format("state: watching is {}, and there is no memory to watch on so many worlds", watching));
  }
  torch::Tensor unwatched;
  if (state.contains("unwatched")) {
    unwatched = part_of(state, "unwatched", torch::kInt64, 2).contiguous().clone();
    as_rows(unwatched, unwatched.size(0), problem->worlds().variables(), "state: unwatched");
    check_values(unwatched, problem->worlds(), {}, "state: unwatched");
  }
  const auto type = type_;
  const auto before = copied(learned());
  require_numbers(with_prefix(state, "q."));
  require_numbers(with_prefix(state, "explanation."));
  require_numbers(with_prefix(state, "loss."));
  try {
    const auto is_wide = [](const auto& entry) { return entry.second.scalar_type() == torch::kFloat64; };
    if (knowledge_.learns_q) {
      to(std::ranges::any_of(with_prefix(state, "q."), is_wide) ? torch::kFloat64 : torch::kFloat32);
    }
    load_learned(state);
  } catch (...) {
    to(type);
    load_learned(before);
    throw;
  }
  if (takes_facts) {
    choice_.facts = facts;
    choice_.reason = reason;
    if (grown > 0) choice_.certificate = {};
    take_memory(knowledge_, problem);
  }
  knowledge_.generator.set_state(generator);
  knowledge_.grown = grown;
  knowledge_.watched.worlds = watching;
  steps_ = steps;
  unwatched_ = unwatched;
}

void Core::save(const std::filesystem::path& directory) const {
  TrainingDetails details{.options = options_->values()};
  details.options[kGivenOption] = std::to_string(given_);
  auto problem = knowledge_.problem;
  const auto points = problem->worlds().points();
  auto saved = FoundFacts{.summary = choice_.reason};
  if (const auto* const found = problem->facts().find<FoundFacts>()) saved = *found;
  if (problem->facts().find<Automaton>() != nullptr) {
    saved.automaton = true;  // one that was told is saved like one that was found
  } else if (problem->facts().find<AskedOutput>() == nullptr && choice_.architecture == kExactArchitecture &&
             points <= kMostWorldsSaved) {
    // All that a small function does, so that it need not be brought again.
    const auto outputs = anesi::apply(*problem, points_of(problem->worlds()));
    if ((outputs >= 0).all().item<bool>()) {
      problem = with(problem, tables_of(outputs, *problem));
      saved.tables = true;
    }
  } else if (has_formula(*problem)) {
    saved.formula = true;
  }
  if (saved.automaton || saved.tables || saved.reading || saved.formula) problem = with(problem, saved);
  save_model(directory, predictor_of(problem), details);
}

std::unique_ptr<Core> load_core(const std::filesystem::path& directory, std::shared_ptr<const Problem> problem,
                                Say say) {
  const auto saved = read_saved_model(directory);
  if (problem && (saved.worlds != problem->worlds().domains() || saved.outputs != problem->outputs().domains())) {
    throw UsageError(fmt::format("{}: a model of another function: of {} and {} variables, or of other domains",
                                 directory.string(), saved.worlds.size(), saved.outputs.size()));
  }
  auto found = read_found_facts(saved);
  if (!problem) {
    const auto nothing = make_problem(Space(saved.worlds), Space(saved.outputs),
                                      [](Values, MutableValues) { throw Error("there is no function"); });
    const auto facts = with_found_facts(nothing, found, saved.found)->facts();
    if (facts.find<Automaton>() != nullptr || facts.find<OutputTables>() != nullptr) {
      problem = std::make_shared<RememberedProblem>(Space(saved.worlds), Space(saved.outputs), facts);
    } else if (auto formula = problem_of_formula(facts)) {
      problem = std::move(formula);
    } else if (names_formula(found)) {
      throw UsageError(
          fmt::format("{}: its formula is too large to be saved, over {} MB; make it again with Knowledge.from_cnf(…), "
                      "and keep what changes with state_dict()",
                      directory.string(), kMostBytesOfFormula >> 20));
    } else {
      throw UsageError(fmt::format("{}: the function itself is not saved; give it as `function`", directory.string()));
    }
  }
  const auto limit = limit_by_weights(saved);
  auto core = std::make_unique<Core>(std::move(problem), given_of(saved), "", CoreOptions::settings_of(saved.options),
                                     0, std::move(say),
                                     Choice{.architecture = saved.architecture,
                                            .reason = saved.found.empty() ? saved.architecture : saved.found,
                                            .facts = tensors_of(found)});
  const auto weights = load_q(directory, saved.architecture);
  const auto is_wide = [](const auto& entry) { return entry.second.scalar_type() == torch::kFloat64; };
  if (std::ranges::any_of(weights, is_wide)) core->to(torch::kFloat64);
  load_model_tensors(core->knowledge_.model, weights, directory.string());
  return core;
}

}  // namespace anesi::python
