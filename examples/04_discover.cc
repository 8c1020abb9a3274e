// A function that nobody described: its memory is found by asking it, and exact answers follow.
//
// Twelve cards with the numbers 0 to 9 lie on the table, and a game is won where their weighted sum divides by 11. No
// list of the 10^12 hands is needed to say how likely that is, and nobody says that remainders are all that counts.
#include <anesi/anesi.h>

#include <algorithm>
#include <cstdio>

int main() {
  constexpr std::int64_t kCards = 12;
  std::shared_ptr<const anesi::Problem> game = anesi::make_problem(anesi::Space::uniform(kCards, 10), anesi::Space{2},
                                                                   [](anesi::Values cards, anesi::MutableValues won) {
                                                                     std::int64_t sum = 0, weight = 1;
                                                                     for (const auto card : cards)
                                                                       sum += card * weight++;
                                                                     won[0] = sum % 11 == 0 ? 1 : 0;
                                                                   });

  const anesi::Discovery found = anesi::discover(*game);
  if (!found.automaton) {
    std::printf("nothing was found: %s\n", found.reason.c_str());
    return 1;
  }
  std::printf("found a memory of %d states with %d calls of the function\n",
              static_cast<int>(std::ranges::max(found.automaton->widths())), static_cast<int>(found.calls));
  std::printf("it differs from the function on at most %.1e of worlds of %s (%d of %d differed)\n",
              found.certificate->bound, found.certificate->beliefs.c_str(),
              static_cast<int>(found.certificate->differing), static_cast<int>(found.certificate->draws));

  // The problem with what was found as a fact: everything that knows what to do with an automaton now does it.
  game = with(game, found.automaton);
  const auto exact = anesi::make_automaton_inference(game->facts().share<anesi::Automaton>());

  // All cards were seen dimly: each shows a 7 with 90 %, else anything.
  auto belief = torch::full({1, kCards, 10}, 0.1 / 9, torch::kFloat64);
  belief.select(2, 7).fill_(0.9);
  const auto win = torch::ones({1, 1}, torch::kInt64);
  std::printf("won with probability %.4f\n", exact->log_prob(belief, win).exp().item<double>());
  const auto best = exact->most_probable(belief, win);
  std::printf("the likeliest hand that wins:");
  for (std::int64_t card = 0; card < kCards; ++card) std::printf(" %d", best.worlds[0][card].item<int>());
  std::printf("\n");
}
