// The HTTP server: sockets, threads and limits. What is answered is somebody else's business.
//
// A connection holds a thread while it is open. There are only so many, and a short line before them; whoever comes
// then is told to come back (503). A request must arrive as a whole within some seconds, however it is dripped, and
// sooner where others wait. The HTTP library (cpp-httplib) appears in server.cc alone; where it was not there when
// anesi was built, making a server throws Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anesi/serve/question.h"

namespace anesi::serve {

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// {"error": message}
HttpAnswer refused(int status, const std::string& message);

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::optional<int> port = {};  // by default kUsualPort, or the next one that is free
  std::string token = {};        // empty: none is needed
};

inline constexpr int kUsualPort = 8400;

// Whether the address is this machine's own, which nobody else reaches.
bool is_loopback(const std::string& host);

class Server {
 public:
  // Answers requests whose head was found to be in order (check_head); called from several threads at once.
  using Handler = std::function<HttpAnswer(const HttpRequest& request)>;

  // Listens from now on. Throws Error where that cannot be.
  Server(const ServerOptions& options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // Where a browser finds the page: "http://127.0.0.1:8400/", with the token where one is needed.
  std::string address() const;
  // Answers until stop() is called, from another thread or a signal's.
  void run();
  void stop();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace anesi::serve
