// What every architecture must get right, checked for all that are registered.
#include <gtest/gtest.h>

#include <set>

#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/models/architecture.h"
#include "anesi/testing/architecture_conformance.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

struct Case {
  std::string architecture, problem;
  bool explains;  // q(w|y,P) rather than q(y|P)

  std::string name() const { return architecture + "_" + problem + (explains ? "_explanation" : "_prediction"); }
  friend void PrintTo(const Case& the_case, std::ostream* out) { *out << the_case.name(); }
};

std::shared_ptr<const Problem> problem_of(const Case& the_case) {
  if (the_case.problem == "addition") return std::make_shared<toys::Addition>(/*digits=*/2, /*base=*/3);
  if (the_case.problem == "pairs") {
    const std::vector<VariablePair> pairs{{0, 1}, {1, 2}, {0, 2}};
    const std::vector<std::int32_t> differ{0, 1, 1, 1, 0, 1, 1, 1, 0};
    OutputTables tables;
    for (const auto& [one, other] : pairs) tables.tables.push_back({{one, other}, differ});
    return with(std::shared_ptr<const Problem>(std::make_shared<toys::PairsThatDiffer>(Space::uniform(3, 3), pairs)),
                tables);
  }
  if (the_case.problem == "formula") return toys::small_formula();
  if (the_case.problem == "walks") return std::make_shared<toys::CheapestWalk>(/*side=*/2);
  return toys::uneven();
}

InferenceModel build(const Case& the_case, const Problem& problem) {
  std::vector<std::string> settings;
  if (the_case.architecture == "resnet") settings.emplace_back("width=2");  // its own default takes minutes
  if (the_case.architecture == "graph") settings = {"width=2", "rounds=3", "cases=3"};
  if (the_case.architecture == "mlp" && the_case.problem == "pairs")
    settings = {"follow_beliefs=true", "log_beliefs=true", "layers=1", "width=20"};
  if (the_case.architecture == "transformer" || the_case.architecture == "set")
    settings = {"width=8", "heads=2", "layers=1"};
  return make_model(problem, the_case.architecture, the_case.explains, settings);
}

// Whether an architecture is for problems like this at all.
bool fits(const Case& the_case) {
  if (the_case.architecture == "graph" || the_case.problem == "formula")
    return the_case.architecture == "graph" && the_case.problem == "formula";
  if (the_case.architecture == "pairwise" || the_case.architecture == "tables")
    return the_case.problem == "pairs" && !the_case.explains;
  if (the_case.architecture == "grid" || the_case.architecture == "resnet") {
    return the_case.problem == "walks" && !the_case.explains;
  }
  return the_case.problem != "walks";  // other architectures know of no point that ends early
}

// Every architecture on every problem, as prediction and as explanation; or those of them that `wanted` says.
std::vector<Case> cases_where(const std::function<bool(const SequenceModel&)>& wanted) {
  std::vector<Case> cases;
  for (const auto& [name, entry] : architectures().all()) {
    for (const char* problem : {"addition", "uneven", "pairs", "walks", "formula"}) {
      for (const bool explains : {false, true}) {
        const Case the_case{name, problem, explains};
        if (!fits(the_case)) continue;
        const auto q = build(the_case, *problem_of(the_case));
        if (wanted(explains ? *q.explanation : *q.prediction)) cases.push_back(the_case);
      }
    }
  }
  return cases;
}

TEST(Architectures, AreAllTestedHere) {
  std::set<std::string> tested;
  for (const auto& the_case : cases_where([](const SequenceModel&) { return true; }))
    tested.insert(the_case.architecture);
  const auto names = architectures().names();
  EXPECT_EQ(tested, std::set<std::string>(names.begin(), names.end()));
}

class EveryArchitecture : public testing::TestWithParam<Case> {
 protected:
  toys::ArchitectureConformance the_case() const {
    const auto problem = problem_of(GetParam());
    return {[problem] { return build(GetParam(), *problem); }, problem,
            GetParam().explains ? toys::Part::kExplanation : toys::Part::kPrediction, GetParam().problem == "walks"};
  }
};
// All but `grid`, whose sweeps run in 32 bits whatever they are given: finite differences there say nothing. Its
// gradients have tests of their own, grid_test.cc and soft_min_sweeps_test.cc.
class EveryModelOf64Bits : public EveryArchitecture {};
class EveryMultilinearModel : public EveryArchitecture {};
class EveryDifferentiableRollout : public EveryArchitecture {};  // but `grid`, as above
class EveryExplanation : public EveryArchitecture {};

TEST_P(EveryArchitecture, SumsToOne) { the_case().expect_to_sum_to_one(); }
TEST_P(EveryArchitecture, LogProbIsTheProductOfItsSteps) { the_case().expect_the_product_of_its_steps(); }
TEST_P(EveryArchitecture, AFullBeamRanksEveryOutput) { the_case().expect_a_full_beam_to_rank_all(); }
TEST_P(EveryArchitecture, AWidthOfOneIsGreedy) { the_case().expect_a_width_of_one_to_be_greedy(); }
TEST_P(EveryArchitecture, SamplesFollowTheModel) { the_case().expect_samples_to_follow_it(); }
TEST_P(EveryModelOf64Bits, GradientsMatchFiniteDifferences) { the_case().expect_gradients_of_differences(); }
TEST_P(EveryArchitecture, AtRestGradientsReachTheBeliefsAlone) { the_case().expect_gradients_of_beliefs_alone(); }
TEST_P(EveryArchitecture, AnswersSeveralThreadsAsOneAndStaysAsItIs) { the_case().expect_threads_to_change_nothing(); }
TEST_P(EveryMultilinearModel, IsTheMeanOfItselfOverWorlds) { the_case().expect_the_mean_over_worlds(); }
TEST_P(EveryArchitecture, PrunedBeamAndSamplesStayWithinWhatIsAllowed) {
  the_case().expect_to_stay_within_what_is_allowed();
}
TEST_P(EveryDifferentiableRollout, HasTheGradientsOfThePrunedModel) {
  the_case().expect_gradients_of_the_pruned_model();
}
TEST_P(EveryArchitecture, APrefixWithNoCompletionIsAnError) { the_case().expect_an_error_without_completion(); }
TEST_P(EveryExplanation, JoinsPredictionsInABeamThatRanksOutputsAndWorlds) {
  the_case().expect_a_joint_beam_to_rank_all();
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name(); }

std::vector<Case> but_grid(std::vector<Case> cases) {
  std::erase_if(cases, [](const Case& the_case) { return the_case.architecture == "grid"; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, EveryArchitecture,
                         testing::ValuesIn(cases_where([](const SequenceModel&) { return true; })), name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryMultilinearModel,
                         testing::ValuesIn(cases_where([](const auto& model) { return model.multilinear(); })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryModelOf64Bits,
                         testing::ValuesIn(but_grid(cases_where([](const SequenceModel&) { return true; }))), name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryDifferentiableRollout,
                         testing::ValuesIn(but_grid(cases_where([](const auto& model) {
                           return model.rollouts_have_gradients();
                         }))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryExplanation, testing::ValuesIn([] {
                           auto cases = cases_where([](const SequenceModel&) { return true; });
                           std::erase_if(cases, [](const Case& the_case) { return !the_case.explains; });
                           return cases;
                         }()),
                         name_of);

}  // namespace
}  // namespace anesi
