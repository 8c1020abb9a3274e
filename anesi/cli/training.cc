#include "anesi/cli/training.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>

#include "anesi/cli/crash.h"
#include "anesi/cli/progress_display.h"
#include "anesi/predict/renaming.h"
#include "anesi/run/machine.h"

namespace anesi::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// A second Ctrl-C ends the program at once. A terminal that is closed may tell so twice, by the system and by its
// shell, and nobody is there to be impatient.
void on_interrupt(int number) {
  interrupted = 1;
  if (number != SIGHUP) std::signal(number, SIG_DFL);
}

void stop_when_asked() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // as nohup wants it
}

// Shows progress, logs every evaluation and keeps the checkpoint up to date.
class RunObserver final : public TrainingObserver {
 public:
  RunObserver(const Run& run, Training& training) : run_(run), training_(training) {}

  void on_step(const Progress& progress) override {
    if (progress.restarts > restarts_) {
      restarts_ = progress.restarts;
      display_.line(
          fmt::format("start {}: explanations of the labels were too unlikely; perception begins anew", restarts_ + 1));
    }
    display_.update(progress);
  }

  void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
    run_.log(progress, evaluation);
    run_.save_checkpoint(training_);
    if (!evaluation) {
      const auto loss = progress.phase == "q" ? progress.q_loss : progress.loss;
      display_.line(
          fmt::format("{:<11}{} steps, loss {:.5f}, {:.1f} s", progress.phase, progress.step, loss, progress.seconds));
      return;
    }
    if (progress.phase == "refine") {
      const auto& labels = *training_.learner().explained;
      display_.line(fmt::format("refined on {} explained labels, {:.2f} nats from the most likely worlds in the mean",
                                labels.rows.size(0), labels.gap));
    }
    if (progress.phase == "follow") {
      display_.line(fmt::format("q followed for {} steps, loss {:.4f}  neural {:.2f} %  {:.1f} s", progress.steps,
                                progress.q_loss, 100 * evaluation->neural, progress.seconds));
      return;
    }
    if (evaluation->constrained) {
      display_.line(fmt::format(
          "epoch {:>3}/{}  loss {:.4f}  exact match {:.2f} %, satisfied {:.1f} %  under the constraint {:.2f} %  "
          "{:.1f} s",
          progress.epoch, progress.epochs, progress.loss, 100 * evaluation->believed->exact_match,
          100 * evaluation->believed->satisfied, 100 * evaluation->constrained->exact_match, progress.seconds));
      return;
    }
    display_.line(
        fmt::format("epoch {:>3}/{}  loss {:.4f}  symbolic {:.2f} %{}  per variable {:.2f} %  {:.1f} s", progress.epoch,
                    progress.epochs, progress.loss, 100 * evaluation->symbolic,
                    std::isnan(evaluation->neural) ? "" : fmt::format("  neural {:.2f} %", 100 * evaluation->neural),
                    100 * evaluation->per_variable, progress.seconds));
  }

  bool should_stop() override { return interrupted != 0; }

 private:
  const Run& run_;
  Training& training_;
  std::int64_t restarts_ = 0;
  ProgressDisplay display_;
};

}  // namespace

nlohmann::ordered_json Trained::to_json() const {
  auto json = anesi::to_json(evaluation);
  json["seconds"] = seconds;
  json["restarts"] = restarts;
  if (labels_right) json["labels_right"] = *labels_right;
  if (unrefined) json["unrefined"] = anesi::to_json(*unrefined);
  return json;
}

void outlast_readers() { std::signal(SIGPIPE, SIG_IGN); }

std::optional<Trained> train_to_the_end(const Run& run, Training& training) {
  tell_of_crashes(run.directory());
  stop_when_asked();
  const auto began = std::chrono::system_clock::now();
  bool finished = false;
  {
    RunObserver observer(run, training);
    finished = training.trainer().run(observer);
  }
  if (!finished) {
    run.save_checkpoint(training);
    return std::nullopt;
  }
  const auto& data = training.data();
  const auto& learner = training.learner();
  const auto predictor = training.predictor();
  save_model(run.model(), predictor, training.details());
  Trained trained;
  trained.seconds = training.trainer().seconds();
  trained.restarts = learner.restarts;
  EvaluateSettings settings{.explanations = 10, .time_queries = true};
  trained.evaluation = predictor.evaluate(*data.test, settings);
  if (learner.explained) {
    settings.time_queries = false;
    trained.unrefined = training.unrefined_predictor().evaluate(*data.test, settings);
    if (data.train->has_worlds()) {
      const auto truth = data.train->worlds().index_select(0, learner.explained->rows);
      const bool names = learner.problem->facts().find<ValuesAreNames>() != nullptr;
      const auto share = share_right(learner.explained->worlds, truth, names);
      if (!std::isnan(share)) trained.labels_right = share;
    }
  }
  auto result = trained.to_json();
  result["machine"] = this_machine();
  result["began"] = time_text(began);
  result["ended"] = time_text(std::chrono::system_clock::now());
  run.save_result(result);
  return trained;
}

}  // namespace anesi::cli
