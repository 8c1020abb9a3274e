// Your own data, your own network, your own function: trained, explained and saved.
//
// Three sensors each stand in a cold, mild or hot place and give eight noisy readings. No band is labelled. All that is
// known of an example is whether the alarm went off, which it does where two or more are hot.
#include <anesi/anesi.h>

#include <algorithm>
#include <cstdio>

// Each sensor's readings, [batch, 3, 8], to beliefs in its band, [batch, 3, 3].
class Sensors final : public anesi::Perception {
 public:
  torch::Tensor forward(const torch::Tensor& readings) override {
    return last_(torch::relu(first_(readings))).softmax(2);
  }

 private:
  torch::nn::Linear first_{register_module("first", torch::nn::Linear(8, 32))};
  torch::nn::Linear last_{register_module("last", torch::nn::Linear(32, 3))};
};

int main() {
  const auto alarm = anesi::make_problem(anesi::Space::uniform(3, 3), anesi::Space{2}, [](auto bands, auto output) {
    output[0] = std::count(bands.begin(), bands.end(), 2) >= 2 ? 1 : 0;
  });

  // Readings lie around -1, 0 or 1; the true bands are for scoring alone.
  torch::manual_seed(1);
  const auto draw = [&](std::int64_t examples) {
    const auto bands = torch::randint(3, {examples, 3}, torch::kInt64);
    const auto readings = (bands - 1).unsqueeze(2) + 0.8 * torch::randn({examples, 3, 8});
    return anesi::tensor_examples(readings, apply(*alarm, bands), bands);
  };
  const auto training = draw(2000), test = draw(500);

  // q learns the function from samples of it, then perception learns through q from alarms alone.
  anesi::Learner learner(
      alarm, [] { return std::make_shared<Sensors>(); }, training, /*seed=*/1);
  learner.learn_through("transducer", {"states=8"}, /*explain=*/true);
  const anesi::Schedule falling{.lr = 0.05, .shape = anesi::Shape::kCosine};
  anesi::train(learner, {.epochs = 20, .batch = 20, .schedule = {.lr = 0.003}},
               {.pretrain = 1000, .frozen = true, .schedule = falling});

  const anesi::Predictor predictor = learner.predictor();
  const auto evaluation = predictor.evaluate(*test);
  std::printf("alarms right: %.1f %%\n", 100 * evaluation.symbolic);

  // Hot and hot is what an alarm tells; cold and mild look the same to it, so perception may take one for the other.
  const auto beliefs = predictor.beliefs(test->batch(0, 1).inputs);
  const auto why = predictor.explain(beliefs, {.output = {1}, .top = 3});
  std::printf("an alarm (%.1f %% likely) would mean\n", 100 * why.probability);
  for (const auto& found : why.worlds) {
    std::printf("  bands");
    for (const auto band : found.world) std::printf(" %d", static_cast<int>(band));
    std::printf(" with probability %.3f\n", found.probability);
  }

  predictor.save("alarm_model");
  const auto again = anesi::load_predictor("alarm_model", alarm, [] { return std::make_shared<Sensors>(); });
  std::printf("loaded: %.1f %% right\n", 100 * again.evaluate(*test).symbolic);
}
