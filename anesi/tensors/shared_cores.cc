#include "anesi/tensors/shared_cores.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <torch/utils.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace anesi {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
// Parts of the time in which threads stand in line, all together. Beside one busy process it is 0.7 to 1, beside some
// that only take what is left over 0.05.
constexpr double kCrowded = 0.35, kAlone = 0.15;
constexpr double kNews = 0.5;             // weight of the last look among all
constexpr double kCrowdedSeconds = 0.15;  // before they give way: two looks, for what cores did is told by the tick
constexpr double kQuietSeconds = 1.5;     // before waiting in a loop is taken up again

// Libgomp's entry to a parallel region; its interface is part of what compilers rely on.
using GompParallel = void (*)(void (*body)(void*), void* data, unsigned threads, unsigned flags);

GompParallel gomp_parallel() { return reinterpret_cast<GompParallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel")); }

// Seconds that all threads of this process have stood in line.
std::optional<double> seconds_in_line() {
  std::error_code error;
  double total = 0;
  bool told = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "schedstat");
    double running = 0, in_line = 0;
    if (!(file >> running >> in_line)) continue;  // it has ended meanwhile
    total += in_line / 1e9;
    told = true;
  }
  return told && !error ? std::optional(total) : std::nullopt;
}

cpu_set_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  return set;
}

unsigned cores() {
  const auto set = allowed_cores();
  const auto count = CPU_COUNT(&set);
  return count > 0 ? static_cast<unsigned>(count) : std::thread::hardware_concurrency();
}

// Seconds that anybody has used the cores that this process may use.
std::optional<double> seconds_used() {
  const auto allowed = allowed_cores();
  std::ifstream file("/proc/stat");
  double ticks = 0;
  bool told = false;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    std::size_t core = 0;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0;
    if (line[3] == ' ' ||
        !(words >> core >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts))
      continue;  // the sum over all cores
    if (core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed)) continue;
    ticks += user + nice + system + interrupts + soft_interrupts;
    told = true;
  }
  return told ? std::optional(ticks / static_cast<double>(sysconf(_SC_CLK_TCK))) : std::nullopt;
}

double seconds_of_ours() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// From the beginning until now; none where the system does not tell, or there is no memory to ask it with.
std::optional<CoreSeconds> core_seconds() try {
  const auto in_line = seconds_in_line();
  const auto used = seconds_used();
  if (!in_line || !used) return std::nullopt;
  return CoreSeconds{*in_line, *used - seconds_of_ours()};
} catch (const std::exception&) {
  return std::nullopt;
}

// Signals are for the threads that work.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool Crowding::observe(const CoreSeconds& since, double passed) {
  // Threads that ended take their time with them, and ticks are rough, so that either may seem to go back.
  const auto because_of_others = std::max(0.0, std::min(since.in_line, since.by_others));
  share_ += kNews * (because_of_others / passed - share_);
  quiet_ = share_ < kAlone ? quiet_ + passed : 0;
  busy_ = share_ > kCrowded ? busy_ + passed : 0;
  if (busy_ >= kCrowdedSeconds) crowded_ = true;
  if (quiet_ >= kQuietSeconds) crowded_ = false;
  return crowded_;
}

// A parallel region, with just so many threads that all together are more than there are cores.
class SharedCores::Sleepers {
 public:
  explicit Sleepers(GompParallel parallel) {
    const auto working = static_cast<unsigned>(std::max(1, torch::get_num_threads()));
    const auto enough = std::max(2U, cores() + 2 - std::min(cores(), working));
    thread_ = std::thread([this, parallel, enough] {
      parallel([](void* self) { static_cast<Sleepers*>(self)->sleep(); }, this, enough, 0);
    });
  }
  ~Sleepers() {
    {
      const std::lock_guard lock(mutex_);
      awake_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;

 private:
  void sleep() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return awake_; });
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool awake_ = false;
  std::thread thread_;
};

SharedCores::SharedCores() {
  const bool told = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
  if (told || gomp_parallel() == nullptr || !core_seconds()) return;
  const SignalsBlocked blocked;
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {
    return;  // no thread or memory is left to be polite with; that is no reason to fail
  }
}

SharedCores::~SharedCores() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

bool SharedCores::give_way() const {
  const std::lock_guard lock(mutex_);
  return sleepers_ != nullptr;
}

void SharedCores::watch() {
  using Clock = std::chrono::steady_clock;
  Crowding crowding;
  auto before = core_seconds();
  auto then = Clock::now();
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kBetweenLooks, [this] { return stopping_; })) {
    const auto told = core_seconds();
    const auto now = Clock::now();
    if (!told || !before) {
      before = told;
      then = now;
      continue;
    }
    const auto crowded = crowding.observe({told->in_line - before->in_line, told->by_others - before->by_others},
                                          std::chrono::duration<double>(now - then).count());
    before = told;
    then = now;
    if (!crowded) sleepers_.reset();
    if (!crowded || sleepers_ || torch::get_num_threads() == 1) continue;
    try {
      sleepers_ = std::make_unique<Sleepers>(gomp_parallel());
    } catch (const std::exception&) {
      continue;  // the same
    }
  }
  sleepers_.reset();
}

}  // namespace anesi
