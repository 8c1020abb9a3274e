// Exact inference without libtorch: a function of your own, beliefs from anywhere, a plain array.
// Links anesi::knowledge alone.
#include <cstdio>
#include <string>
#include <vector>

#include "anesi/knowledge.h"

namespace {

std::string text_of(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const auto value : values) {
    if (!text.empty()) text += ' ';
    text += std::to_string(value);
  }
  return text;
}

}  // namespace

int main() {
  // Ten dice, each read with some doubt. The output: how many sixes in a row there are at most.
  constexpr int kDice = 10;
  const auto longest_run = anesi::make_problem(anesi::Space::uniform(kDice, 6), {kDice + 1}, [](auto dice, auto run) {
    std::int64_t here = 0;
    for (const auto die : dice) {
      here = die == 5 ? here + 1 : 0;
      run[0] = std::max(run[0], here);
    }
  });
  const anesi::Exact exact(longest_run);  // queries the function
  std::printf("%.0f worlds, exact by %s\n", exact.worlds().points(), exact.method().c_str());

  // What a network, in whatever framework, says of one throw: [batch, dice, faces].
  std::vector<float> probabilities(kDice * 6, 0.04F);
  for (int die = 0; die < kDice; ++die)
    probabilities[static_cast<std::size_t>(die * 6 + (die % 4 == 0 ? 2 : 5))] = 0.8F;
  const anesi::Beliefs beliefs(probabilities, exact.worlds());

  for (const auto& [run, probability] : exact.predict(beliefs, /*top=*/3)[0]) {
    std::printf("longest run %s: %.4f\n", text_of(run).c_str(), probability);
  }
  const anesi::Points four{{4}};
  for (const auto& [dice, probability] : exact.explain(beliefs, four, /*top=*/3)[0]) {
    std::printf("a run of 4 by %s: %.4f\n", text_of(dice).c_str(), probability);
  }
  anesi::Random random(1);
  const auto drawn = exact.sample(beliefs, four, random);
  std::printf("one of the others: %s\n", text_of({drawn[0].begin(), drawn[0].end()}).c_str());

  exact.save("longest_run.anesi");
  const auto loaded = anesi::Exact::load("longest_run.anesi");  // without the function
  std::printf("loaded: %.4f\n", loaded.predict(beliefs)[0][0].probability);
}
