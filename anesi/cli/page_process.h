// The page of a training, in a process of its own.
//
// Looking at a model draws from torch's generator and takes memory and threads. In another process none of that reaches
// the training: its weights are to the last bit those of a training that nobody watched.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace anesi::cli {

class PageProcess {
 public:
  // Starts `anesi serve` on the run's directory; it says where on stderr. A port of 0 is the usual one. Throws Error
  // where this program was built without it, or cannot be started.
  PageProcess(const std::filesystem::path& directory, std::int64_t port, const std::string& data);
  // Ends it. It also ends by itself when this process does.
  ~PageProcess();
  // Whether it has not ended by itself, for want of its port.
  bool runs() const;
  PageProcess(const PageProcess&) = delete;
  PageProcess& operator=(const PageProcess&) = delete;

 private:
  mutable pid_t process_ = -1;  // -1 once it has ended
};

}  // namespace anesi::cli
