// A task outside anesi: does a room of sensors raise the alarm? Inputs are readings, not images.
#include <anesi/anesi.h>

#include <algorithm>

#include "count_model.h"

namespace {

constexpr std::int64_t kBands = 3, kReadings = 8, kHot = 2;  // cold, mild, hot

struct AlarmOptions {
  std::int64_t sensors = 5, needed = 2, examples = 3000;

  void describe(anesi::OptionTable& table) {
    table.add("sensors", sensors, {1, 1000}, "sensors in a room");
    table.add("needed", needed, {1, 1000}, "sensors that must be hot for an alarm");
    table.add("examples", examples, {1, 10000000}, "rooms to learn from; a fifth as many to test on");
  }
};

class Sensors final : public anesi::Perception {
 public:
  torch::Tensor forward(const torch::Tensor& readings) override {
    return last_(torch::relu(first_(readings))).softmax(2);  // [batch, sensors, bands]
  }
  bool separable() const override { return true; }

 private:
  torch::nn::Linear first_{register_module("first", torch::nn::Linear(kReadings, 32))};
  torch::nn::Linear last_{register_module("last", torch::nn::Linear(32, kBands))};
};

class Words final : public anesi::Presentation {
 public:
  std::string output(anesi::Values output) const override { return output[0] == 1 ? "alarm" : "no alarm"; }
  std::string variable(std::int64_t sensor) const override { return "sensor " + std::to_string(sensor + 1); }
  std::string value(std::int64_t /*sensor*/, std::int64_t band) const override {
    return band == kHot ? "hot" : band == 1 ? "mild" : "cold";
  }
  std::string world(anesi::Values bands) const override {
    std::string text;
    for (const auto band : bands) text += (text.empty() ? "" : " ") + value(0, band);
    return text;
  }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    if (text != "alarm" && text != "no alarm") throw anesi::UsageError("write `alarm` or `no alarm`");
    return {text == "alarm" ? 1 : 0};
  }
};

anesi::Task make_alarm(const AlarmOptions& options, const anesi::TaskContext& context) {
  if (options.needed > options.sensors) throw anesi::UsageError("task.needed: more than there are sensors");
  anesi::Task task;
  const auto function = anesi::make_problem(anesi::Space::uniform(options.sensors, kBands), anesi::Space{2},
                                            [needed = options.needed](auto bands, auto output) {
                                              output[0] =
                                                  std::count(bands.begin(), bands.end(), kHot) >= needed ? 1 : 0;
                                            });
  task.problem = anesi::with(function, CountsOnly{kHot});
  task.make_perception = [] { return std::make_shared<Sensors>(); };
  task.presentation = std::make_shared<Words>();
  task.load = [problem = task.problem, options, context] {
    const auto generator = anesi::seeded(context.seed);
    const auto draw = [&](std::int64_t rooms) {
      const auto bands = torch::randint(kBands, {rooms, options.sensors}, generator, torch::kInt64);
      const auto noise = torch::randn({rooms, options.sensors, kReadings}, generator);
      return anesi::tensor_examples((bands - 1).unsqueeze(2) + 0.8 * noise, apply(*problem, bands), bands);
    };
    const auto few = std::max<std::int64_t>(1, options.examples / 5);
    anesi::Splits splits{
        .train = draw(options.examples), .validation = nullptr, .test = draw(few), .origin = "drawn sensors"};
    if (context.validation) splits.validation = draw(few);
    return splits;
  };
  return task;
}

const std::vector<anesi::Preset> kPresets{
    {"default",
     "a table over counts, learned from worlds, then perception through it",
     {"q.architecture=count", "prior.kind=certain", "q.pretrain=500", "q.samples=128", "q.lr=0.05", "q.schedule=cosine",
      "q.frozen=true", "train.epochs=10", "train.batch=20", "train.lr=0.003"}}};

ANESI_TASK("alarm", "are enough sensors of a room hot? From alarms alone", AlarmOptions, kPresets, make_alarm);

}  // namespace
