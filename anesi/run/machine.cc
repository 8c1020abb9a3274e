#include "anesi/run/machine.h"

#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "anesi/core/build.h"

namespace anesi {
namespace {

// From /proc/cpuinfo, which is no regular file: its length is not known beforehand. Processors of other makes than
// x86's are not named there.
nlohmann::ordered_json processor_name() {
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return nullptr;
}

}  // namespace

nlohmann::ordered_json this_machine() {
  const auto build = this_build();
  return {{"cpu", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads", torch::get_num_threads()},
          {"torch", TORCH_VERSION},
          {"anesi", build.version}};
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace anesi
