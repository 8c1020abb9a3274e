// anesi report: one file that tells all of a run, or of several.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/io/files.h"
#include "anesi/io/thousands.h"
#include "anesi/report/report_html.h"
#include "anesi/run/run_record.h"

namespace anesi::cli {
namespace {

struct ReportFlags {
  CommonFlags common;
  std::vector<std::string> runs;
  std::string out;
};

// Runs are only read, so a report does not take the place of their files.
void check_place(const std::string& out, const std::vector<std::filesystem::path>& runs) {
  std::error_code unknown;
  const auto place = std::filesystem::weakly_canonical(out, unknown);
  for (const auto& run : runs) {
    const auto inside = place.lexically_relative(std::filesystem::weakly_canonical(run, unknown));
    if (!inside.empty() && *inside.begin() != ".." && std::filesystem::exists(place, unknown) &&
        place.extension() != ".html") {
      throw UsageError(fmt::format("--out {}: this is a file of a run", out));
    }
  }
}

void write_report(const ReportFlags& flags) {
  const auto directories = run_directories(flags.runs);
  if (!flags.out.empty()) check_place(flags.out, directories);
  const auto report = make_report(directories, flags.common.context());
  if (!flags.common.json || !flags.out.empty()) {
    const auto html = report_html(report);
    const auto path = flags.out.empty() ? std::string("report.html") : flags.out;
    write_file_atomically(path, html);
    const auto runs = report.figures["runs"].size();
    note(fmt::format("{} run{}, {} bytes: {}", runs, runs == 1 ? "" : "s", thousands(html.size()), path));
  }
  if (flags.common.json) print_json(report.figures);
}

}  // namespace

void add_report(CLI::App& app, int&) {
  auto* command = app.add_subcommand("report", "one HTML file of a run, or of several beside each other");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("RUN", flags->runs, "run directories, or folders of runs as `anesi repeat` leaves them")
      ->required();
  command->add_option("--out", flags->out, "the file to write (default report.html; with --json none)");
  flags->common.add_to(*command);
  command->footer(
      "The file needs nothing else and can be sent: what was trained and how, curves, reliability, confusion, "
      "distance\n"
      "from exact inference, what discovery found, and the most confident mistakes with their pictures.\n"
      "Runs are only read; one that is still training is told of without its model.\n"
      "Examples:\n  anesi report runs/four --out four.html\n  anesi report runs/mnist-add-repeat-1\n"
      "  anesi report runs/four runs/fifteen --json");
  command->callback([flags] { write_report(*flags); });
}

}  // namespace anesi::cli
