// Where a parcel begins and ends, from a light curtain: beliefs that depend on each other.
//
// A parcel on a belt stands before a row of light beams and interrupts some of them. Each beam gives a few noisy
// readings of how much of it is covered; dust makes all beams of a parcel noisy alike, and how much there is differs
// from one parcel to the next. The label says which beams are the first and the last that are interrupted. The network
// sees one beam at a time, yet its beliefs depend on each other: interrupted beams form one run, doubts lie at its two
// ends, and where there is dust there are more of them. One Dirichlet a beam draws such beliefs next to never: its
// beams are interrupted here and there, so that the first is nearly always among the lowest. So the task shows what a
// prior of all variables together buys, with a q that is small enough to care. There are few worlds, so that q can be
// compared with exact inference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/tasks/task.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kTestParcels = 1000;
constexpr double kLeastNoise = 0.15;
constexpr double kLongestParcel = 0.6;  // as a share of the curtain

struct LightCurtainOptions {
  std::int64_t beams = 12, readings = 8, examples = 4000, width = 32;
  double noise = 1.2;

  void describe(OptionTable& table) {
    table.add("beams", beams, {2, 64}, "light beams in the curtain");
    table.add("readings", readings, {1, 1000}, "of each beam");
    table.add("examples", examples, {1, 10000000}, "parcels to learn from");
    table.add("width", width, {1, 16384}, "units in the hidden layer of perception");
    table.add(
        "noise", noise, {kLeastNoise, 100},
        "deviation of a reading in the most dust, where a free beam reads 0 and a covered one 1; without any it is "
        "0.15");
  }
};

struct Parcels {
  torch::Tensor readings;     // float [parcels, beams, readings]
  torch::Tensor interrupted;  // int64 [parcels, beams]: beams that are covered by half or more
};

Parcels draw_parcels(std::int64_t count, const LightCurtainOptions& options, const at::Generator& generator) {
  const auto beams = static_cast<double>(options.beams);
  const auto uniform = [&](at::IntArrayRef shape) { return torch::rand(shape, generator); };
  const auto length = 1 + uniform({count, 1}) * (kLongestParcel * beams - 1);
  const auto begin = uniform({count, 1}) * (beams - length);
  const auto beam = torch::arange(options.beams);
  const auto covered = ((begin + length).minimum(beam + 1) - begin.maximum(beam)).clamp(0, 1);  // [parcels, beams]
  const auto noise = kLeastNoise * (uniform({count, 1, 1}) * std::log(options.noise / kLeastNoise)).exp();
  const auto errors = noise * torch::randn({count, options.beams, options.readings}, generator);
  return {covered.unsqueeze(2) + errors, (covered >= 0.5).to(torch::kInt64)};
}

// One small network for every beam.
class BeamReader final : public Perception {
 public:
  explicit BeamReader(const LightCurtainOptions& options)
      : first_(register_module("first", torch::nn::Linear(options.readings, options.width))),
        last_(register_module("last", torch::nn::Linear(options.width, 2))) {}

  torch::Tensor forward(const torch::Tensor& readings) override { return last_(features(readings)).softmax(2); }
  torch::Tensor features(const torch::Tensor& readings) override { return torch::relu(first_(readings)); }
  bool separable() const override { return true; }

 private:
  torch::nn::Linear first_, last_;
};

class LightCurtainPresentation final : public Presentation {
 public:
  explicit LightCurtainPresentation(std::int64_t beams) : beams_(beams) {}

  std::string world(Values world) const override {
    std::string text;
    for (const auto beam : world) text += beam == 1 ? '#' : '.';
    return text;
  }
  std::string output(Values output) const override {
    return output[0] == beams_ ? "nothing there" : fmt::format("from beam {} to {}", output[0] + 1, output[1] + 1);
  }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    if (text == "nothing there") return {beams_, beams_};
    if (!text.starts_with("from beam ")) return Presentation::read_output(text);
    std::string numbers;
    for (const auto letter : text) numbers += letter >= '0' && letter <= '9' ? letter : ' ';
    auto ends = Presentation::read_output(numbers);
    for (auto& end : ends) --end;
    return ends;
  }
  std::string variable(std::int64_t variable) const override { return fmt::format("beam {}", variable + 1); }
  std::string output_variable(std::int64_t variable) const override { return variable == 0 ? "first" : "last"; }

 private:
  std::int64_t beams_;
};

// The first beam that is interrupted and the last; both count as one past the end where none is.
std::shared_ptr<const Problem> ends_of_the_parcel(std::int64_t beams) {
  return make_problem(Space::uniform(beams, 2), Space::uniform(2, beams + 1), [](Values world, MutableValues ends) {
    const auto none = static_cast<std::int64_t>(world.size());
    const auto last = std::find(world.rbegin(), world.rend(), 1);
    ends[0] = std::find(world.begin(), world.end(), 1) - world.begin();
    ends[1] = last == world.rend() ? none : none - 1 - (last - world.rbegin());
  });
}

Task make_light_curtain(const LightCurtainOptions& options, const TaskContext& context) {
  const auto problem = ends_of_the_parcel(options.beams);
  return Task{.problem = problem,
              .make_perception = [options] { return std::make_shared<BeamReader>(options); },
              .load =
                  [problem, options, context] {
                    const auto generator = seeded(context.seed);
                    const auto draw = [&](std::int64_t count) {
                      const auto [readings, interrupted] = draw_parcels(count, options, generator);
                      return tensor_examples(readings, apply(*problem, interrupted), interrupted);
                    };
                    Splits splits{.train = nullptr, .validation = nullptr, .test = draw(kTestParcels)};
                    splits.train = draw(options.examples);
                    if (context.validation) splits.validation = draw(std::max<std::int64_t>(1, options.examples / 6));
                    splits.origin = "generated";
                    return splits;
                  },
              .presentation = std::make_shared<LightCurtainPresentation>(options.beams)};
}

// A q that is small and learns from few samples, so that it matters which.
std::vector<std::string> small_q_and(std::vector<std::string> settings) {
  settings.insert(settings.end(), {"q.architecture=mlp", "mlp.layers=1", "mlp.width=48", "q.samples=64", "q.lr=0.005",
                                   "q.pretrain=200", "train.epochs=20", "train.batch=32", "train.lr=0.003"});
  return settings;
}

const std::vector<Preset> kPresets{
    {"default", "a small q, from a flow over all beams together", small_q_and({"prior.kind=flow"})},
    {"mixture", "the same q, from a mixture of Dirichlets over all beams together",
     small_q_and({"prior.kind=mixture", "mixture.components=16", "prior.l2=0"})},
    {"independent", "the same q, from the paper's Dirichlets, one a beam", small_q_and({"prior.kind=fitted"})},
    {"independent-free", "the same q, from one Dirichlet a beam that no L2 holds back",
     small_q_and({"prior.kind=fitted", "prior.l2=0"})},
    {"exact",
     "through exact inference, found by asking",
     {"loss=exact", "train.epochs=20", "train.batch=32", "train.lr=0.003"}},
};

ANESI_TASK("light-curtain", "where a parcel begins and ends, from noisy readings of light beams", LightCurtainOptions,
           kPresets, make_light_curtain);

}  // namespace
}  // namespace anesi
