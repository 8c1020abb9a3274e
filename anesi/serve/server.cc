// Built with ANESI_WITH_HTTPLIB where cpp-httplib is installed; else there is no server.
#include "anesi/serve/server.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace anesi::serve {

HttpAnswer refused(int status, const std::string& message) {
  return {.status = status, .body = nlohmann::json{{"error", message}}.dump(-1, ' ', true)};
}

bool is_loopback(const std::string& host) { return host == "127.0.0.1" || host == "localhost" || host == "::1"; }

}  // namespace anesi::serve

#ifndef ANESI_WITH_HTTPLIB

namespace anesi::serve {

class Server::Listener {};

Server::Server(const ServerOptions&, Handler) {
  throw Error(
      "this anesi was built without cpp-httplib, and so without `serve`; install libcpp-httplib-dev and build it "
      "again");
}
Server::~Server() = default;
int Server::port() const { return 0; }
std::string Server::address() const { return ""; }
void Server::run() {}
void Server::stop() {}

}  // namespace anesi::serve

#else

#include <httplib.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace anesi::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kConnections = 64;  // that are answered at once
constexpr std::size_t kInLine = 64;       // that wait for one of them to end
constexpr std::size_t kLongestHead = 32768;
constexpr std::size_t kMostHeaders = 100;
constexpr milliseconds kWholeRequest{10000};  // from a request's first byte to its last
constexpr milliseconds kWithOthersWaiting{2000};
constexpr milliseconds kBetweenRequests{5000};
constexpr milliseconds kWriting{10000};  // of a whole answer
constexpr milliseconds kHearingOut{500};
constexpr milliseconds kGlance{20};  // how often somebody who waits looks whether others do
constexpr std::size_t kRequestsOfConnection = 10000;

// Connections that wait for a thread. What the library wants done is always "serve this connection"; where the line is
// full, that is done on the spot, on the thread that accepts, and the listener then knows that it is to refuse.
class Line final : public httplib::TaskQueue {
 public:
  explicit Line(std::atomic<std::size_t>& waiting) : waiting_(waiting) {
    for (std::size_t thread = 0; thread < kConnections; ++thread) threads_.emplace_back([this] { serve(); });
  }

  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      if (connections_.size() < kInLine) {
        connections_.push_back(std::move(connection));
        count();
        changed_.notify_one();
        return;
      }
    }
    connection();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void serve() {
    while (true) {
      std::function<void()> connection;
      {
        std::unique_lock lock(mutex_);
        ++idle_;
        changed_.wait(lock, [this] { return ending_ || !connections_.empty(); });
        --idle_;
        if (connections_.empty()) return;
        connection = std::move(connections_.front());
        connections_.pop_front();
        count();
      }
      connection();
    }
  }

  // Those that no thread is about to take.
  void count() { waiting_ = connections_.size() > idle_ ? connections_.size() - idle_ : 0; }

  std::atomic<std::size_t>& waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()> > connections_;
  std::size_t idle_ = 0;  // threads
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

// One request of a connection, as the library reads it. The head is read first, as a whole, and headers that the
// library would act on are left out of it: ranges, which multiply an answer, and encodings of bodies, which grow when
// they are undone.
class RequestStream final : public httplib::Stream {
 public:
  // `crowded` tells whether others wait, `ending` whether the server is being stopped.
  RequestStream(int socket, std::string& left_over, std::function<bool()> crowded, std::function<bool()> ending)
      : socket_(socket), left_over_(left_over), crowded_(std::move(crowded)), ending_(std::move(ending)) {}

  // Waits for a request to begin and reads its head. False where none came in time, or it is too long or malformed in
  // a way that leaves nothing to answer; `too_long` then says which.
  bool read_head() {
    const auto begin = Clock::now();
    std::string head = std::move(left_over_);
    left_over_.clear();
    if (!head.empty()) began_ = begin;
    std::size_t end = 0;
    while ((end = end_of_head(head)) == std::string::npos) {
      if (head.size() > kLongestHead) {
        too_long = true;
        return false;
      }
      if (!wait_to_read(begin)) return false;
      std::array<char, 4096> bytes;
      const auto count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count <= 0) return false;
      if (!began_) began_ = Clock::now();
      head.append(bytes.data(), static_cast<std::size_t>(count));
    }
    buffer_ = filtered(std::string_view(head).substr(0, end));
    buffer_ += std::string_view(head).substr(end);
    return !too_long;
  }

  bool too_long = false;

  bool is_readable() const override { return at_ < buffer_.size() || ready(POLLIN, milliseconds(0)); }
  bool is_writable() const override { return ready(POLLOUT, milliseconds(0)); }

  ssize_t read(char* bytes, std::size_t size) override {
    if (at_ < buffer_.size()) {
      const auto count = std::min(size, buffer_.size() - at_);
      std::copy_n(buffer_.data() + at_, count, bytes);
      at_ += count;
      return static_cast<ssize_t>(count);
    }
    if (!wait_to_read(Clock::now())) return -1;
    return ::recv(socket_, bytes, size, 0);
  }

  ssize_t write(const char* bytes, std::size_t size) override {
    if (!writing_since_) writing_since_ = Clock::now();
    const auto left = std::chrono::duration_cast<milliseconds>(*writing_since_ + kWriting - Clock::now());
    if (left <= milliseconds(0) || !ready(POLLOUT, left)) return -1;
    return ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

  // What came after this request belongs to the next.
  void end() { left_over_ = buffer_.substr(std::min(at_, buffer_.size())); }

 private:
  static std::size_t end_of_head(const std::string& head) {
    const auto end = head.find("\r\n\r\n");
    return end == std::string::npos ? end : end + 4;
  }

  std::string filtered(std::string_view head) {
    std::string kept;
    std::size_t lines = 0;
    while (!head.empty()) {
      const auto line = head.substr(0, head.find("\r\n") + 2);
      head.remove_prefix(line.size());
      if (++lines > kMostHeaders + 2) {
        too_long = true;
        return "";
      }
      const auto name = line.substr(0, line.find(':'));
      const auto is = [&](std::string_view other) {
        return std::equal(name.begin(), name.end(), other.begin(), other.end(), [](char one, char two) {
          return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(two));
        });
      };
      if (!is("Range") && !is("If-Range") && !is("Expect") && !is("Accept-Encoding")) kept += line;
    }
    return kept;
  }

  bool ready(short what, milliseconds patience) const {
    pollfd waited{socket_, what, 0};
    return ::poll(&waited, 1, static_cast<int>(patience.count())) > 0 && (waited.revents & (what | POLLHUP)) != 0;
  }

  // Until there is something to read, or time is up: that between requests, or for the whole request since it began.
  bool wait_to_read(Clock::time_point since) const {
    while (!ready(POLLIN, kGlance)) {
      const auto now = Clock::now();
      if (ending_()) return false;
      if (!began_) {
        if (crowded_() || now - since > kBetweenRequests) return false;
      } else if (now - *began_ > (crowded_() ? kWithOthersWaiting : kWholeRequest)) {
        return false;
      }
    }
    return !began_ || Clock::now() - *began_ <= kWholeRequest;
  }

  int socket_;
  std::string& left_over_;
  std::function<bool()> crowded_, ending_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::optional<Clock::time_point> began_, writing_since_;
};

HttpRequest request_of(const httplib::Request& request) {
  HttpRequest read{.method = request.method, .target = request.target, .headers = {}, .body = request.body};
  for (const auto& [name, value] : request.headers) read.headers.emplace_back(name, value);
  return read;
}

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri "
    "'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

class Server::Listener final : public httplib::Server {
 public:
  Listener(const ServerOptions& options, serve::Server::Handler handler)
      : options_(options), handler_(std::move(handler)) {
    new_task_queue = [this] { return new Line(waiting_); };
    set_tcp_nodelay(true);
    set_keep_alive_max_count(kRequestsOfConnection);
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(kBetweenRequests).count());
    set_payload_max_length(kLongestBody);
    // Only the one that asks for a port gets it: the library's own choice, SO_REUSEPORT, would share it.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    bind();
    site_ = {.hosts = names(), .token = options_.token, .cookie = fmt::format("anesi_{}", port_)};
    if (options_.host == "0.0.0.0" || options_.host == "::") site_.any_address_with_port = port_;
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return answer_head(request, response);
    });
    for (const auto& address : posted_addresses()) {
      Post(address, [this](const httplib::Request& request, httplib::Response& response) {
        give(answer(request_of(request)), response);
      });
    }
    set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) give(refused(response.status, "this request cannot be read"), response);
      return HandlerResponse::Handled;
    }));
  }

  int port() const { return port_; }
  std::string address() const {
    return fmt::format("http://{}/{}", with_port(options_.host),
                       options_.token.empty() ? "" : "?token=" + options_.token);
  }

  void run() {
    accepting_ = std::this_thread::get_id();
    if (ending_) return;
    if (!listen_after_bind() && !ending_) throw Error("the server cannot accept connections any more");
  }
  void end() {
    ending_ = true;
    if (is_running()) stop();
  }

 private:
  void bind() {
    const auto try_port = [this](int port) {
      if (!bind_to_port(options_.host, port)) return false;
      port_ = port;
      return true;
    };
    if (options_.port && *options_.port == 0) {
      port_ = bind_to_any_port(options_.host);
      if (port_ > 0) return;
    } else if (options_.port) {
      if (try_port(*options_.port)) return;
    } else {
      constexpr int kTries = 100;
      for (int port = kUsualPort; port < kUsualPort + kTries; ++port) {
        if (try_port(port)) return;
      }
    }
    throw Error(fmt::format("{}: cannot listen there; the port is taken, or the address is not this machine's",
                            options_.port ? with_port(options_.host, *options_.port) : options_.host));
  }

  std::string with_port(const std::string& host) const { return with_port(host, port_); }
  static std::string with_port(const std::string& host, int port) {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
  }

  // All names of the loopback address are one; any other address has its own name alone. Somebody who listens on all
  // addresses is asked by any of them.
  std::vector<std::string> names() const {
    std::vector<std::string> names{with_port(options_.host)};
    if (is_loopback(options_.host)) names = {with_port("127.0.0.1"), with_port("localhost"), with_port("::1")};
    return names;
  }

  // What can be said before the body is read; all there is to say, where there is none.
  HandlerResponse answer_head(const httplib::Request& request, httplib::Response& response) const {
    const auto read = request_of(request);
    try {
      check_head(read, site_);
    } catch (const Refusal& refusal) {
      give(refused(refusal.status(), refusal.what()), response);
      return HandlerResponse::Handled;
    }
    if (read.method == "POST") return HandlerResponse::Unhandled;
    auto answered = answer(read);
    if (brings_token(read, site_)) {
      answered.headers.emplace_back("Set-Cookie",
                                    fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", site_.cookie, site_.token));
    }
    give(answered, response);
    return HandlerResponse::Handled;
  }

  HttpAnswer answer(const HttpRequest& request) const {
    try {
      return handler_(request);
    } catch (const Refusal& refusal) {
      return refused(refusal.status(), refusal.what());
    } catch (const std::exception&) {
      return refused(500, "this is a mistake in anesi; please report it");
    }
  }

  static void give(const HttpAnswer& answer, httplib::Response& response) {
    response.status = answer.status;
    response.set_header("Content-Security-Policy", std::string(kPolicy));
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cross-Origin-Opener-Policy", "same-origin");
    response.set_header("Cache-Control", answer.type == "application/json" ? "no-store" : "no-cache");
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, answer.type);
  }

  // The library's loop over the requests of a connection, with limits of our own.
  bool process_and_close_socket(socket_t socket) override {
    if (std::this_thread::get_id() == accepting_) {
      say(socket, 503, "Service Unavailable", "too many ask at once; try again");
    } else {
      serve(socket);
      let_go(socket);
    }
    ::close(socket);
    return true;
  }

  void serve(socket_t socket) {
    std::string left_over;
    for (std::size_t request = 0; request < kRequestsOfConnection && !ending_; ++request) {
      RequestStream stream(
          socket, left_over, [this] { return waiting_ > 0; }, [this] { return ending_.load(); });
      if (!stream.read_head()) {
        if (stream.too_long) say(socket, 431, "Request Header Fields Too Large", "the request is too long");
        return;
      }
      bool closed = false, readable = false, body_is_left = false;
      const auto look = [&](httplib::Request& head) {
        readable = true;
        // A refusal leaves the body unread, and what it holds is no next request.
        body_is_left = head.has_header("Content-Length") || head.has_header("Transfer-Encoding");
        try {
          check_head(request_of(head), site_);
          body_is_left = false;
        } catch (const Refusal&) {
          head.headers.erase("Connection");
          head.set_header("Connection", "close");
        }
      };
      const bool last = waiting_ > 0;  // which the answer says
      const bool answered = process_request(stream, last, closed, look);
      // What follows a request that the library could not read is no next request either.
      if (!answered || !readable || closed || body_is_left || last) return;
      stream.end();
    }
  }

  // Closing a connection that still sends would take back what it was told, so the rest is heard out for a moment.
  void let_go(socket_t socket) const {
    ::shutdown(socket, SHUT_WR);
    const auto end = Clock::now() + kHearingOut;
    std::array<char, 4096> bytes;
    pollfd waited{socket, POLLIN, 0};
    while (Clock::now() < end && waiting_ == 0 && !ending_) {
      if (::poll(&waited, 1, static_cast<int>(kGlance.count())) == 0) continue;
      if (::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return;
    }
  }

  // In place of the library, where it is not asked.
  static void say(socket_t socket, int status, const char* reason, const char* message) {
    const auto body = refused(status, message).body;
    const auto text = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
        reason, body.size(), body);
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  ServerOptions options_;
  serve::Server::Handler handler_;
  Site site_;
  int port_ = 0;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> ending_{false};
  std::thread::id accepting_;
};

Server::Server(const ServerOptions& options, Handler handler)
    : listener_(std::make_unique<Listener>(options, std::move(handler))) {}
Server::~Server() = default;
int Server::port() const { return listener_->port(); }
std::string Server::address() const { return listener_->address(); }
void Server::run() { listener_->run(); }
void Server::stop() { listener_->end(); }

}  // namespace anesi::serve

#endif
