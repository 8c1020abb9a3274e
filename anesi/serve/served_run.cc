#include "anesi/serve/served_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"
#include "anesi/io/json_text.h"
#include "anesi/io/lock_state.h"
#include "anesi/report/run_figures.h"
#include "anesi/run/load_run.h"
#include "anesi/run/run.h"
#include "anesi/tensors/own_words.h"

namespace anesi::serve {
namespace {

namespace fs = std::filesystem;

constexpr auto kBetweenLooks = std::chrono::milliseconds(500);
constexpr std::int64_t kVariablesAtOnce = 300;  // of the examples that are looked at together

fs::path checkpoint_in(const fs::path& directory) { return directory / "checkpoint" / "state.safetensors"; }

// RUN/model, or the directory itself where it is a model's.
fs::path model_in(const fs::path& directory) {
  std::error_code unknown;
  return fs::exists(directory / "manifest.json", unknown) ? directory : directory / "model";
}

// For what nobody waits for.
void give_way_to_questions() {
  constexpr int kLessImportant = 4;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLessImportant);
  torch::set_num_threads(1);
}

}  // namespace

ServedModel::ServedModel(std::int64_t number, std::unique_ptr<const Configuration> configuration, Task task,
                         std::unique_ptr<const Training> training, std::optional<Predictor> predictor,
                         std::shared_ptr<const Splits> data)
    : number_(number),
      configuration_(std::move(configuration)),
      task_(std::move(task)),
      training_(std::move(training)),
      predictor_(predictor ? *std::move(predictor) : training_->predictor()),
      answers_(predictor_, *task_.presentation, configuration_->task_name),
      data_(std::move(data)) {}

const Examples* ServedModel::split(const std::string& name) const {
  const auto& split = name == "train" ? data_->train : name == "validation" ? data_->validation : data_->test;
  return split && split->size() > 0 ? split.get() : nullptr;
}

ExampleRows ServedModel::rows(const AskExamples& asked) const {
  const auto* const examples = split(asked.split);
  if (examples == nullptr) return {};
  const std::lock_guard lock(mutex_);
  auto& looked = looked_at_[asked.split];
  looked.of = examples->size();
  ExampleRows found{.looked_at = std::ssize(looked.rows), .of = looked.of};
  std::vector<std::int64_t> order;
  for (std::int64_t index = 0; index < found.looked_at; ++index) {
    const auto& row = looked.rows[static_cast<std::size_t>(index)];
    const bool kept = asked.filter == ExampleFilter::kWrong ? row.right == false
                      : asked.filter == ExampleFilter::kGap ? row.gap.has_value()
                                                            : true;
    if (kept) order.push_back(index);
  }
  const auto by = [&](auto rank) {
    std::ranges::stable_sort(order, {}, [&](std::int64_t index) {
      const double place = rank(looked.rows[static_cast<std::size_t>(index)]);
      return std::isnan(place) ? 0 : place;
    });
  };
  if (asked.filter == ExampleFilter::kWrong) by([](const Judged& row) { return -row.probability; });
  if (asked.filter == ExampleFilter::kUnsure) by([](const Judged& row) { return row.probability; });
  if (asked.filter == ExampleFilter::kGap) by([](const Judged& row) { return -*row.gap; });
  found.total = std::ssize(order);
  const auto begin = std::min(asked.from, found.total), end = std::min(begin + asked.count, found.total);
  for (auto place = begin; place < end; ++place) {
    const auto index = order[static_cast<std::size_t>(place)];
    found.rows.emplace_back(index, looked.rows[static_cast<std::size_t>(index)]);
  }
  return found;
}

bool ServedModel::look_on() const {
  std::string name;
  std::int64_t begin = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto unfinished = std::ranges::find_if(
        looked_at_, [](const auto& split) { return std::ssize(split.second.rows) < split.second.of; });
    if (unfinished == looked_at_.end()) return false;
    name = unfinished->first;
    begin = std::ssize(unfinished->second.rows);
  }
  const auto& examples = *split(name);
  const auto step = std::max<std::int64_t>(1, kVariablesAtOnce / predictor_.problem().worlds().variables());
  auto rows = answers_.judge(examples, begin, std::min(begin + step, examples.size()));
  const std::lock_guard lock(mutex_);
  auto& looked = looked_at_[name];
  for (auto& row : rows) looked.rows.push_back(std::move(row));
  return true;
}

ServedRun::ServedRun(fs::path directory, TaskContext context)
    : directory_(std::move(directory)), context_(std::move(context)) {
  std::error_code unknown;
  const auto first = source();
  if (first.stamp.empty() && !fs::exists(directory_ / "config.toml", unknown)) {
    throw UsageError(fmt::format("{}: there is no run here (no config.toml)", directory_.string()));
  }
  if (!first.stamp.empty()) load(first);
  const auto configuration = model_ ? nullptr : run_configuration(directory_);
  task_ = model_ ? model_->configuration().task_name : configuration->task_name;
  preset_ = model_ ? model_->configuration().preset : configuration->preset;
  watcher_ = std::thread([this] { watch(); });
  looker_ = std::thread([this] { look(); });
}

ServedRun::~ServedRun() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watcher_.join();
  looker_.join();
}

std::string ServedRun::name() const {
  std::error_code unknown;
  const auto whole = fs::absolute(directory_, unknown).lexically_normal();
  const auto last = whole.filename().empty() ? whole.parent_path().filename() : whole.filename();
  return last.string();
}

std::string ServedRun::state() const {
  if (is_locked(directory_)) return "training";
  std::error_code unknown;
  return fs::exists(model_in(directory_) / "manifest.json", unknown) ? "finished" : "stopped";
}

std::shared_ptr<const ServedModel> ServedRun::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

nlohmann::ordered_json ServedRun::result() const {
  const auto path = directory_ / "result.json";
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return nullptr;
  try {
    return parse_json<nlohmann::ordered_json>(read_file(path, kLargestJson), path);
  } catch (const Error&) {
    return nullptr;
  }
}

nlohmann::ordered_json ServedRun::report() const {
  const std::lock_guard lock(mutex_);
  report_asked_ = report_.model != (model_ ? model_->number() : 0);
  return report_asked_ ? nlohmann::ordered_json() : report_.figures;
}

void ServedRun::make_report_if_asked(const std::shared_ptr<const ServedModel>& model) {
  {
    const std::lock_guard lock(mutex_);
    if (!report_asked_) return;
    report_asked_ = false;
  }
  auto quiet = context_;
  quiet.say = {};
  nlohmann::ordered_json figures;
  try {
    figures = make_report({directory_}, quiet).figures;
  } catch (const std::exception& error) {
    figures = in_own_words(error);
  }
  const std::lock_guard lock(mutex_);
  report_ = {model ? model->number() : 0, std::move(figures)};
}

std::vector<nlohmann::ordered_json> ServedRun::log() const {
  std::vector<nlohmann::ordered_json> lines;
  const auto path = directory_ / "log.jsonl";
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return lines;
  const auto text = read_file(path, kLargestText);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto line = nlohmann::ordered_json::parse(text.substr(begin, end - begin), nullptr, /*allow_exceptions=*/false);
    lines.push_back(line.is_object() ? std::move(line) : nlohmann::ordered_json());
  }
  return lines;
}

ServedRun::Stamp ServedRun::stamp_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}.{:09} {} {}", found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino, found.st_size);
}

// While a run is being trained, whichever is newer: a training that goes on past its end has a model of before.
ServedRun::Source ServedRun::source() const {
  const auto saved = stamp_of(model_in(directory_) / "manifest.json"), checkpoint = stamp_of(checkpoint_in(directory_));
  const bool newer = checkpoint > saved && is_locked(directory_);
  if (!checkpoint.empty() && (saved.empty() || newer)) return {true, checkpoint};
  return {false, saved};
}

void ServedRun::load(const Source& source) {
  const auto before = model();
  const auto number = before ? before->number() + 1 : 1;
  auto fresh = source.checkpoint ? load_checkpoint(number) : load_saved(number);
  if (before) {
    const auto &now = fresh->predictor().problem(), &then = before->predictor().problem();
    if (fresh->configuration().task_name != before->configuration().task_name || now.worlds() != then.worlds() ||
        now.outputs() != then.outputs()) {
      throw Error("another run has taken the place of the one that is served");
    }
  }
  loaded_ = source;
  const std::lock_guard lock(mutex_);
  model_ = std::move(fresh);
  changed_.notify_all();
}

std::shared_ptr<const ServedModel> ServedRun::load_saved(std::int64_t number) const {
  auto run = load_run(directory_, context_);
  const auto before = model();
  auto data = before ? before->shared_data() : std::make_shared<const Splits>(run.load_data());
  return std::make_shared<const ServedModel>(number, std::move(run.configuration), std::move(run.task), nullptr,
                                             std::move(run.predictor), std::move(data));
}

std::shared_ptr<const ServedModel> ServedRun::load_checkpoint(std::int64_t number) const {
  const auto before = model();
  auto configuration = run_configuration(directory_);
  auto task = configuration->make_task(context_);
  auto data = before ? before->shared_data() : std::make_shared<const Splits>(task.load());
  auto training = std::make_unique<Training>(*configuration, task, *data, found_in_run(directory_));
  if (!load_checkpoint_of(directory_, *training)) throw Error("there is no checkpoint");
  return std::make_shared<const ServedModel>(number, std::move(configuration), std::move(task), std::move(training),
                                             std::nullopt, std::move(data));
}

void ServedRun::watch() {
  torch::set_num_threads(1);  // a training may need the others
  Stamp failed;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kBetweenLooks, [this] { return ending_; })) return;
    }
    const auto now = source();
    if (now.stamp.empty() || now.stamp == failed ||
        (now.stamp == loaded_.stamp && now.checkpoint == loaded_.checkpoint)) {
      continue;
    }
    try {
      load(now);
    } catch (const std::exception& error) {
      // It may have been replaced while it was read; where it was not, it stays damaged.
      if (source().stamp != now.stamp) continue;
      failed = now.stamp;
      if (context_.say) context_.say(fmt::format("note: the newest model is not shown: {}", in_own_words(error)));
    }
  }
}

void ServedRun::look() {
  give_way_to_questions();
  std::shared_ptr<const ServedModel> failed;
  while (true) {
    const auto current = model();
    bool looked = false;
    try {
      looked = current && current != failed && current->look_on();
      if (!looked) make_report_if_asked(current);
    } catch (const std::exception& error) {
      failed = current;
      if (context_.say) context_.say(fmt::format("note: not all can be shown: {}", in_own_words(error)));
    }
    std::unique_lock lock(mutex_);
    if (ending_) return;
    if (looked) continue;
    if (changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return ending_; })) return;
  }
}

}  // namespace anesi::serve
