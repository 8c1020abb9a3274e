// Outputs that keep the rules: a network names what lies on a tray, and a formula says what goes together.
//
// Labels are the trays themselves. A network alone learns each thing on them by itself, and some of what it says cannot
// be: two drinks, red wine for who drives. Trained and asked under the formula, it is never wrong in that way, and more
// often right.
//
//   example_05_constraints examples/meal.cnf
#include <anesi/anesi.h>

#include <cstdio>

namespace {

constexpr std::int64_t kPixels = 12;

// A tray is seen as a blurred sum of the things on it.
std::shared_ptr<const anesi::Examples> photographs(const anesi::Problem& meal, const anesi::ExactInference& exact,
                                                   const torch::Tensor& looks, std::int64_t count, std::uint64_t seed) {
  const auto generator = anesi::seeded(seed);
  const auto allowed = torch::ones({count, 1}, torch::kInt64);
  const auto trays = exact.sample(anesi::uniform_beliefs(count, meal.worlds()), allowed, generator);
  auto pictures = 0.9 * torch::randn({count, kPixels}, generator);
  for (std::int64_t variable = 0; variable < trays.size(1); ++variable) {
    pictures += looks[variable].index_select(0, trays.select(1, variable));
  }
  return anesi::tensor_examples(pictures, anesi::constrained_labels(trays), trays);
}

void report(const char* name, const anesi::Evaluation::Structured& score) {
  std::printf("%-28s %5.1f %% of trays right, %5.1f %% possible\n", name, 100 * score.exact_match,
              100 * score.satisfied);
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto meal = anesi::read_formula_problem(count > 1 ? words[1] : "examples/meal.cnf");
    std::printf("a tray has %d variables", static_cast<int>(meal->worlds().variables()));
    const auto circuit = anesi::compiled_formula(*meal);
    std::printf("; %.0f of %.0f trays are possible\n", circuit->circuit.models(), meal->worlds().points());

    const auto exact = anesi::make_exact(*meal, {.method = "circuit"});
    const auto looks = torch::randn({meal->worlds().variables(), 3, kPixels}, anesi::seeded(1));
    const auto training = photographs(*meal, *exact, looks, 600, 2), test = photographs(*meal, *exact, looks, 1000, 3);

    anesi::Learner learner(
        meal,
        [&] {
          return std::make_shared<anesi::TabularMlp>(kPixels, meal->worlds(), anesi::TabularMlpOptions{.width = 64});
        },
        training, /*seed=*/1);
    learner.learn_exactly();
    anesi::train(learner, {.epochs = 30, .batch = 20, .schedule = {.lr = 0.002}});

    const auto evaluation = learner.predictor().evaluate(*test);
    report("the network by itself", *evaluation.believed);
    report("under the formula", *evaluation.constrained);
  } catch (const anesi::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
