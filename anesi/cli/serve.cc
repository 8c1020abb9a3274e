// anesi serve: a page on this machine's own address, to look at a run.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/core/build.h"
#include "anesi/serve/api.h"

namespace anesi::cli {
namespace {

struct ServeFlags {
  CommonFlags common;
  std::string run, host = "127.0.0.1", token, page;
  std::int64_t port = -1, parent = 0;

  std::size_t threads() const {
    constexpr unsigned kEnough = 4;
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    return common.threads > 0 ? static_cast<std::size_t>(common.threads) : std::min(cores, kEnough);
  }
};

// 128 bits in letters that addresses may hold.
std::string random_token() {
  std::random_device random;
  std::string token;
  for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", random() & 0xffffffffU);
  return token;
}

// Ends a server when somebody asks the process to end. A handler may hardly do anything, so it wakes a thread that
// does.
class StopWhenAsked {
 public:
  explicit StopWhenAsked(serve::Server& server) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error("the server cannot wait for signals: no pipe could be made");
    written = ends_[1];
    thread_ = std::thread([this, &server] {
      char byte = 0;
      while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
      }
      // It may be told to stop before it has begun.
      for (; !ended_; std::this_thread::sleep_for(std::chrono::milliseconds(20))) server.stop();
    });
    for (const auto number : kSignals) std::signal(number, on_signal);
  }
  ~StopWhenAsked() {
    ended_ = true;
    on_signal(0);
    thread_.join();
    for (const auto number : kSignals) std::signal(number, SIG_DFL);
    for (const auto end : ends_) ::close(end);
  }
  StopWhenAsked(const StopWhenAsked&) = delete;
  StopWhenAsked& operator=(const StopWhenAsked&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  static inline volatile std::sig_atomic_t written = -1;
  static void on_signal(int) {
    const auto kept = errno;
    [[maybe_unused]] const auto done = ::write(written, "", 1);
    errno = kept;
  }

  std::array<int, 2> ends_{};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

// The server of a training ends with it, however that ends.
void end_with(std::int64_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) throw Error("the training that this page is of has ended");
}

void serve_run(const ServeFlags& flags) {
  if (!this_build().httplib) {
    throw Error(
        "this anesi was built without cpp-httplib, and so without `serve`; install libcpp-httplib-dev and build again");
  }
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
  if (flags.token.find_first_not_of(kLetters) != std::string::npos) {
    throw UsageError("--token: letters, digits, '.', '_', '~' and '-' are wanted, for it stands in an address");
  }
  constexpr std::size_t kLongestToken = 256;
  if (flags.token.size() > kLongestToken) throw UsageError("--token: at most 256 letters");
  if (flags.host.empty()) throw UsageError("--host: an address of this machine is wanted, as 127.0.0.1");
  if (!flags.page.empty() && !std::filesystem::is_directory(flags.page)) {
    throw UsageError(fmt::format("--page {}: there is no such folder", flags.page));
  }
  if (flags.parent > 0) end_with(flags.parent);
  std::signal(SIGPIPE, SIG_IGN);
  if (!std::filesystem::exists(flags.run)) throw UsageError(fmt::format("{}: there is no such directory", flags.run));
  const serve::ServedRun run(flags.run, flags.common.context());
  serve::ComputeThreads threads(flags.threads());
  const serve::Api api(run, threads,
                       flags.page.empty() ? std::nullopt : std::optional<std::filesystem::path>(flags.page));
  const bool in_brackets = flags.host.starts_with('[') && flags.host.ends_with(']');
  const auto host = in_brackets ? flags.host.substr(1, flags.host.size() - 2) : flags.host;
  serve::ServerOptions options{.host = host, .token = flags.token};
  if (flags.port >= 0) options.port = static_cast<int>(flags.port);
  if (options.token.empty() && !serve::is_loopback(host)) options.token = random_token();
  serve::Server server(options, [&](const serve::HttpRequest& request) { return api.answer(request); });
  const StopWhenAsked stop(server);
  if (flags.common.json) {
    print_json({{"address", server.address()}, {"run", run.name()}});
  } else {
    std::cout << server.address() << '\n';
  }
  std::cout.flush();
  server.run();
}

}  // namespace

void add_serve(CLI::App& app, int&) {
  auto* command = app.add_subcommand("serve", "a page to look at a run, on this machine's own address");
  auto flags = std::make_shared<ServeFlags>();
  command->add_option("RUN", flags->run, "a run directory; it may be one that is being trained")->required();
  command->add_option("--port", flags->port, "where to listen (default 8400, or the next that is free; 0: any)")
      ->check(whole_number(0, 65535));
  command->add_option("--host", flags->host,
                      "listen on another address of this machine (default 127.0.0.1); others then need the token");
  command->add_option(
      "--token", flags->token,
      "what others must bring to be answered (default: none on this machine's own address, else random)");
  command->add_option("--page", flags->page, "take the page's files from this folder")->group("");
  command->add_option("--parent", flags->parent, "end with this process")->group("");
  flags->common.add_to(*command);
  command->footer(
      "Prints the address once it listens; Ctrl-C ends it. --threads: questions that are computed at once (default: "
      "the\n"
      "cores, up to 4). docs/page.md describes the page, and the JSON that other programs may ask for.\n"
      "Examples:\n  anesi serve runs/four\n  anesi serve runs/four --port 9000\n  anesi serve runs/four --host "
      "192.168.1.7");
  command->callback([flags] { serve_run(*flags); });
}

}  // namespace anesi::cli
