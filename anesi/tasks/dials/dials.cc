// Several dials in one photograph that an unsteady hand took: beliefs that depend on each other.
//
// A photograph shows a few dials, each a strip of pixels with a needle over one of its marks; the label is the sum of
// what they show. The hand moved: all needles of a photograph are displaced by the same amount and blurred alike, and
// how much differs from one photograph to the next. The network sees one dial at a time, so it cannot tell a needle
// that is displaced from one that is not, and doubts between neighbouring marks: on all dials of a photograph to the
// same side, and all the more the more it is blurred. One Dirichlet a variable draws such beliefs next to never, so the
// task shows what a prior of all variables together buys. There are few worlds, so that q can be compared with exact
// inference.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "anesi/core/seeded.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

constexpr std::int64_t kPixelsPerMark = 4;
constexpr std::int64_t kTestPhotographs = 1000;
constexpr double kSharpest = 0.1, kPixelNoise = 0.1;

struct DialsOptions {
  std::int64_t dials = 4, marks = 5, examples = 4000, width = 64;
  double shift = 0.3, blur = 0.8;

  std::int64_t pixels() const { return kPixelsPerMark * (marks + 2); }

  void describe(OptionTable& table) {
    table.add("dials", dials, {1, 32}, "dials in a photograph");
    table.add("marks", marks, {2, 100}, "marks on each of them");
    table.add("examples", examples, {1, 10000000}, "photographs to learn from");
    table.add("width", width, {1, 16384}, "units in the hidden layer of perception");
    table.add("shift", shift, {0, 2},
              "deviation, in marks, of the displacement that all needles of a photograph share");
    table.add("blur", blur, {kSharpest, 10}, "width of the most blurred needles, in marks; the sharpest have 0.1");
  }
};

// Photographs [photographs, dials, pixels] of dials that show these marks, int64 [photographs, dials].
torch::Tensor photographs_of(const torch::Tensor& shown, const DialsOptions& options, const at::Generator& generator) {
  const auto count = shown.size(0);
  const auto displacement = options.shift * torch::randn({count, 1}, generator);
  const auto width = (torch::rand({count, 1, 1}, generator) * std::log(options.blur / kSharpest)).exp() * kSharpest;
  // In marks, with the middle of the first mark at 0 and a margin of one mark and a half on either side of the
  // outermost.
  const auto places = (torch::arange(options.pixels()) + 0.5) / static_cast<double>(kPixelsPerMark) - 1.5;
  const auto distance = places - (shown + displacement).unsqueeze(2);
  const auto needles = (-0.5 * (distance / width).square()).exp();
  return needles + kPixelNoise * torch::randn({count, options.dials, options.pixels()}, generator);
}

// One small network for every dial.
class DialReader final : public Perception {
 public:
  explicit DialReader(const DialsOptions& options)
      : first_(register_module("first", torch::nn::Linear(options.pixels(), options.width))),
        last_(register_module("last", torch::nn::Linear(options.width, options.marks))) {}

  torch::Tensor forward(const torch::Tensor& photographs) override { return last_(features(photographs)).softmax(2); }
  torch::Tensor features(const torch::Tensor& photographs) override { return torch::relu(first_(photographs)); }
  bool separable() const override { return true; }

 private:
  torch::nn::Linear first_, last_;
};

class DialsPresentation final : public Presentation {
 public:
  std::string world(Values world) const override { return fmt::format("{}", fmt::join(world, " + ")); }
  std::string output(Values output) const override { return std::to_string(output[0]); }
  std::string variable(std::int64_t variable) const override { return fmt::format("dial {}", variable + 1); }
  std::string output_variable(std::int64_t) const override { return "sum"; }
};

Task make_dials(const DialsOptions& options, const TaskContext& context) {
  const auto problem = make_problem(
      Space::uniform(options.dials, options.marks), Space{options.dials * (options.marks - 1) + 1},
      [](Values world, MutableValues y) { y[0] = std::accumulate(world.begin(), world.end(), std::int64_t{0}); });
  return Task{
      .problem = problem,
      .make_perception = [options] { return std::make_shared<DialReader>(options); },
      .load =
          [problem, options, context] {
            const auto generator = seeded(context.seed);
            const auto draw = [&](std::int64_t count) {
              const auto shown = torch::randint(options.marks, {count, options.dials}, generator, torch::kInt64);
              return tensor_examples(photographs_of(shown, options, generator), problem->apply(shown), shown);
            };
            Splits splits;
            splits.test = draw(kTestPhotographs);
            splits.train = draw(options.examples);
            if (context.validation) splits.validation = draw(std::max<std::int64_t>(1, options.examples / 6));
            splits.origin = "generated";
            return splits;
          },
      .presentation = std::make_shared<DialsPresentation>()};
}

std::vector<std::string> with_prior(std::vector<std::string> settings) {
  settings.insert(settings.end(), {"q.architecture=mlp", "mlp.layers=1", "mlp.width=32", "q.samples=64", "q.lr=0.003",
                                   "q.pretrain=200", "train.epochs=10", "train.batch=32", "train.lr=0.003"});
  return settings;
}

const std::vector<Preset> kPresets{
    {"default", "a small q that learns from a flow over all dials together", with_prior({"prior.kind=flow"})},
    {"mixture", "the same q, from a mixture of Dirichlets over all dials together",
     with_prior({"prior.kind=mixture", "prior.l2=0"})},
    {"independent", "the same q, from a Dirichlet a dial, each fitted by itself",
     with_prior({"prior.kind=fitted", "prior.l2=0"})},
    {"exact", "through exact inference, found by asking", {"loss=exact", "train.epochs=10", "train.lr=0.003"}},
};

ANESI_TASK("dials", "add up what several dials show, in a photograph by an unsteady hand", DialsOptions, kPresets,
           make_dials);

}  // namespace
}  // namespace anesi
