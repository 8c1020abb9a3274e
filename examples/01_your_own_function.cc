// Your own function: knowledge as a lambda, a model of it learned from samples alone, and an answer under uncertainty.
//
// Two dice are thrown, and a game scores the larger, doubled if both are equal. What is the score, when the dice were
// seen only dimly?
#include <anesi/anesi.h>

#include <algorithm>
#include <cstdio>

int main() {
  torch::manual_seed(0);
  // Values count from 0: die 0 shows one eye, and a score of y is stored as y - 1.
  const auto problem = anesi::make_problem(anesi::Space::uniform(2, 6), anesi::Space{12},
                                           [](anesi::Values dice, anesi::MutableValues score) {
                                             const auto larger = std::max(dice[0], dice[1]) + 1;
                                             score[0] = (dice[0] == dice[1] ? 2 * larger : larger) - 1;
                                           });

  // q(y|P): reads one die after the other, so it must remember the first; 32 states are more than enough.
  const auto q = anesi::make_model(*problem, "transducer", /*explain=*/false, {"states=32"});
  anesi::AmortizedLoss learner(problem, q, std::make_unique<anesi::CertainBeliefs>(problem->worlds()), {.samples = 128},
                               anesi::seeded(0));
  const anesi::Schedule schedule{.lr = 0.05, .shape = anesi::Shape::kCosine};
  constexpr int kSteps = 1500;
  double loss = 0;
  for (int step = 0; step < kSteps; ++step) loss = learner.update(schedule.at(step, kSteps));
  std::printf("learned from samples of the function: loss %.4f\n", loss);

  // The first die looks like a five or a six, the second like a six.
  const auto belief = torch::tensor({0.F, 0.F, 0.F, 0.F, 0.5F, 0.5F, 0.F, 0.F, 0.F, 0.1F, 0.1F, 0.8F}).view({1, 2, 6});
  const auto best = anesi::beam_search(*q.prediction, belief, 4);
  for (int place = 0; place < 4; ++place) {
    std::printf("score %2d with probability %.3f\n",
                static_cast<int>(best.values[0][place][0].item<std::int64_t>()) + 1,
                best.log_prob[0][place].exp().item<double>());
  }
}
