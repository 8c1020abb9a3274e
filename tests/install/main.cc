// Predicts and explains from a saved mnist-add model of two digits, and predicts from one that was saved in Python
// (save_alarm.py), where that is named: only_predicts MODEL [ALARM].
//
// Addition is written here once more, as somebody would who has the model and not the task: c, and the automaton that
// gives the model its pruner.
#include <anesi/inference.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

constexpr std::int64_t kDigits = 2;

std::shared_ptr<const anesi::Problem> addition() {
  const auto worlds = anesi::Space::uniform(2 * kDigits, 10);
  const anesi::Space outputs{2, 10, 10};
  const anesi::ReadingOrder reading(worlds, outputs, {{{1, 3}, 2, 0}, {{0, 2}, 1, 0}, {{}, 0, 1}});
  const auto automaton = std::make_shared<const anesi::Automaton>(
      reading, 2, 0, [](std::int64_t kind, anesi::Values read, std::int64_t carry) -> anesi::Automaton::Move {
        if (kind == 1) return {carry, 0};
        const auto sum = read[0] + read[1] + carry;
        return {sum % 10, sum / 10};
      });
  auto problem = anesi::make_problem(worlds, outputs, [](anesi::Values w, anesi::MutableValues y) {
    const auto sum = 10 * (w[0] + w[2]) + w[1] + w[3];
    y[0] = sum / 100;
    y[1] = sum / 10 % 10;
    y[2] = sum % 10;
  });
  return with(with(problem, reading), anesi::make_automaton_pruner(automaton));
}

// Three sensors, of which two or more are hot; a script reads them.
void predict_alarm(const std::string& folder) {
  const auto alarm = anesi::make_problem(anesi::Space::uniform(3, 3), anesi::Space{2}, [](auto bands, auto output) {
    output[0] = std::count(bands.begin(), bands.end(), 2) >= 2 ? 1 : 0;
  });
  const auto predictor = anesi::load_predictor(
      folder, alarm, [&] { return anesi::load_scripted_perception(folder + "/perception.pt", alarm->worlds()); });
  const auto beliefs = predictor.beliefs(torch::ones({1, 3, 8}));
  const auto on = torch::ones({1, 1}, torch::kInt64);
  std::printf("alarm with probability %.6f\n",
              predictor.model().prediction->log_prob(beliefs, on).exp().item<double>());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  try {
    if (argc == 3) predict_alarm(argv[2]);
    const auto predictor =
        anesi::load_predictor(argv[1], addition(), [] { return std::make_shared<anesi::LeNet>(10); });
    const auto beliefs = predictor.beliefs(torch::zeros({1, 2 * kDigits, 28, 28}));
    const auto predicted = predictor.predict(beliefs, 3);
    const auto why = predictor.explain(beliefs);
    std::printf("%ld outputs; the first with probability %.6f, explained by %zu worlds\n", predicted.outputs.size(1),
                predicted.probability[0][0].item<double>(), why.worlds.size());
    for (const auto& world : why.worlds) {
      if (!world.satisfied) return 1;
    }
    return predicted.outputs.size(1) == 3 && !why.worlds.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
