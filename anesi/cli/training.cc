#include "anesi/cli/training.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>

#include "anesi/cli/progress_display.h"
#include "anesi/train/renaming.h"

namespace anesi::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int number) {
  interrupted = 1;
  std::signal(number, SIG_DFL);
}

// Shows progress, logs every evaluation and keeps the checkpoint up to date.
class RunObserver final : public TrainingObserver {
 public:
  RunObserver(const Run& run, const Trainer& trainer) : run_(run), trainer_(trainer) {}

  void on_step(const Progress& progress) override {
    if (progress.restarts > restarts_) {
      restarts_ = progress.restarts;
      display_.line(
          fmt::format("start {}: explanations of the labels were too unlikely; perception begins anew", restarts_ + 1));
    }
    display_.update(progress);
  }

  void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
    run_.save_checkpoint(trainer_);
    run_.log(progress, evaluation);
    if (!evaluation) {
      const auto loss = progress.phase == "q" ? progress.q_loss : progress.loss;
      display_.line(
          fmt::format("{:<11}{} steps, loss {:.5f}, {:.1f} s", progress.phase, progress.step, loss, progress.seconds));
      return;
    }
    if (progress.phase == "refine") {
      const auto& labels = *trainer_.explained_labels();
      display_.line(fmt::format("refined on {} explained labels, {:.2f} nats from the most likely worlds in the mean",
                                labels.rows.size(0), labels.gap));
    }
    if (progress.phase == "follow") {
      display_.line(fmt::format("q followed for {} steps, loss {:.4f}  neural {:.2f} %  {:.1f} s", progress.steps,
                                progress.q_loss, 100 * evaluation->neural, progress.seconds));
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
  const Trainer& trainer_;
  std::int64_t restarts_ = 0;
  ProgressDisplay display_;
};

// What perception was before it was refined, decided by a threshold of its own.
Evaluation evaluate_unrefined(const Configuration& configuration, const Task& task, const Splits& data,
                              Trainer& trainer, const SavedModel& saved) {
  auto& perception = trainer.unrefined();
  const auto decision = fit_decision(configuration, *task.problem, perception, trainer.model(), data);
  auto settings = saved.evaluate_settings();
  settings.decision = decision ? &*decision : nullptr;
  settings.time_queries = false;
  return evaluate(*task.problem, perception, trainer.model(), data.test, settings);
}

}  // namespace

nlohmann::ordered_json Trained::to_json() const {
  auto json = anesi::to_json(evaluation);
  json["seconds"] = seconds;
  json["restarts"] = restarts;
  if (labels_right) json["labels_right"] = *labels_right;
  if (unrefined) json["unrefined"] = anesi::to_json(*unrefined);
  return json;
}

std::optional<Trained> train_to_the_end(const Run& run, const Configuration& configuration, const Task& task,
                                        const Splits& data, Trainer& trainer, const TaskContext& context) {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  bool finished = false;
  {
    RunObserver observer(run, trainer);
    finished = trainer.run(observer);
  }
  if (!finished) {
    run.save_checkpoint(trainer);
    return std::nullopt;
  }
  save_model(run.model(), configuration, *task.problem, trainer.perception(), trainer.model(),
             fit_decision(configuration, *task.problem, trainer.perception(), trainer.model(), data), &data);
  const auto saved = load_model(run.model(), context);
  Trained trained;
  trained.seconds = trainer.seconds();
  trained.restarts = trainer.restarts();
  trained.evaluation =
      evaluate(*saved.task.problem, *saved.task.perception, saved.model, data.test, saved.evaluate_settings());
  if (const auto* const labels = trainer.explained_labels()) {
    trained.unrefined = evaluate_unrefined(configuration, task, data, trainer, saved);
    const auto share =
        share_right(labels->worlds, data.train.worlds.index_select(0, labels->rows), task.problem->values_are_names());
    if (!std::isnan(share)) trained.labels_right = share;
  }
  run.save_result(trained.to_json());
  return trained;
}

}  // namespace anesi::cli
