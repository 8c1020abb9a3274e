#include "anesi/cli/command_line.h"

#include <malloc.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>

#include "anesi/cli/command.h"
#include "anesi/cli/standard_streams.h"
#include "anesi/core/build.h"
#include "anesi/core/printable.h"
#include "anesi/tensors/own_words.h"
#include "anesi/tensors/shared_cores.h"

namespace anesi {
namespace {

// Training allocates and frees the same large tensors at every step. By default the C library gives such memory back to
// the system each time and pays for it in page faults.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // the most that every version takes
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  // Room for what is larger than that threshold, and all of a heap for other threads than the first. It costs nothing
  // before it is used.
  mallopt(M_TOP_PAD, 1 << 29);
}

int run(int argc, char** argv) {
  CLI::App app{"A-NeSI: train perception from what is known of its outputs", "anesi"};
  app.footer(
      "Examples:\n"
      "  anesi train mnist-add --set task.digits=4 --out runs/four\n"
      "  anesi eval runs/four\n"
      "  anesi predict runs/four --index 7\n"
      "  anesi explain runs/four --index 7\n"
      "`anesi COMMAND --help` says more.");
  app.set_version_flag("--version", this_build().to_string("libtorch " TORCH_VERSION))
      ->description("which anesi this is");
  app.require_subcommand(1);
  tasks().check();
  architectures().check();
  priors().check();
  losses().check();
  int exit_code = 0;
  cli::add_tasks(app, exit_code);
  cli::add_train(app, exit_code);
  cli::add_repeat(app, exit_code);
  cli::add_eval(app, exit_code);
  cli::add_predict(app, exit_code);
  cli::add_explain(app, exit_code);
  cli::add_check(app, exit_code);
  cli::add_report(app, exit_code);
  cli::add_discover(app, exit_code);
  cli::add_fit(app, exit_code);
  cli::add_flow(app, exit_code);
  cli::add_bench(app, exit_code);
  cli::add_serve(app, exit_code);
  cli::add_data(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "anesi: " << printable_line(error.what()) << "; `anesi --help` says how\n";
    return cli::kMisuse;
  }
  return exit_code;
}

// A failure is one line on stderr and an exit code.
int run_or_tell(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    std::cerr << "anesi: " << printable_line(error.what()) << '\n';
    return cli::kMisuse;
  } catch (const std::exception& error) {
    std::cerr << "anesi: " << in_own_words(error) << '\n';
    return cli::kFailed;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  cli::hold_standard_streams();
  keep_freed_memory();
  const SharedCores shared_cores;
  const int code = run_or_tell(argc, argv);
  const auto lost = cli::lost_output();
  if (lost.empty()) return code;
  std::cerr << "anesi: stdout: cannot write: " << lost << "; what was printed is lost or cut short\n";
  return code == 0 ? cli::kFailed : code;
}

}  // namespace anesi
