#include "anesi/serve/question.h"

#include <gtest/gtest.h>

#include <functional>

#include "anesi/serve/base64.h"

namespace anesi::serve {
namespace {

const Site kSite{.hosts = {"127.0.0.1:8400", "localhost:8400"}};
const Site kWithToken{.hosts = {"127.0.0.1:8400"}, .token = "s3cret", .cookie = "anesi_8400"};

HttpRequest get(const std::string& target, std::vector<std::pair<std::string, std::string>> headers = {}) {
  headers.emplace_back("Host", "127.0.0.1:8400");
  return {.method = "GET", .target = target, .headers = std::move(headers), .body = ""};
}

HttpRequest post(const std::string& target, const std::string& body) {
  return {.method = "POST",
          .target = target,
          .headers = {{"Host", "127.0.0.1:8400"},
                      {"Content-Type", "application/json; charset=utf-8"},
                      {"Content-Length", std::to_string(body.size())}},
          .body = body};
}

// Of the refusal; 200 where there is none.
int status_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
  return 200;
}

int head_status(const HttpRequest& request, const Site& site = kSite) {
  return status_of([&] { check_head(request, site); });
}

int read_status(const HttpRequest& request) {
  return status_of([&] { read_question(request); });
}

TEST(Base64, GoesBothWays) {
  EXPECT_EQ(to_base64("anesi"), "YW5lc2k=");
  EXPECT_EQ(from_base64("YW5lc2k="), "anesi");
  for (const auto& bytes : std::vector<std::string>{"", "a", "ab", "abc", std::string("\0\xff\x80", 3)}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatIsSomethingElse) {
  for (const auto* const text :
       {"a", "ab", "abc", "ab=c", "====", "YW5lc2l=", "YW5l c2k", "YW5lc2k=YW5lc2k=", "YW-_"}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

TEST(Question, IsRead) {
  const auto examples =
      std::get<AskExamples>(read_question(get("/api/examples?split=train&filter=unsure&from=3&count=7")));
  EXPECT_EQ(examples.split, "train");
  EXPECT_EQ(examples.filter, ExampleFilter::kUnsure);
  EXPECT_EQ(examples.from, 3);
  EXPECT_EQ(examples.count, 7);
  EXPECT_EQ(std::get<AskInput>(read_question(get("/api/input?index=%37"))).input.index, 7);
  const auto asked = std::get<AskCondition>(read_question(
      post("/api/condition",
           R"({"input": {"index": 4, "parts": {"1": "YWI="}}, "known": {"3": 7}, "output": [1, -1], "top": 2})")));
  EXPECT_EQ(asked.input.index, 4);
  EXPECT_EQ(asked.input.parts.at(1), "ab");
  EXPECT_EQ(asked.known, (KnownValues{{3, 7}}));
  EXPECT_EQ(asked.output.values, (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(asked.top, 2);
  EXPECT_EQ(std::get<AskFile>(read_question(get("/"))).name, "index.html");
  EXPECT_EQ(std::get<AskFile>(read_question(get("/main.js"))).name, "main.js");
}

TEST(Question, IsRefusedWhereItIsMalformed) {
  for (const auto* const body : {"",
                                 "[]",
                                 "null",
                                 "{",
                                 R"({"input": 7})",
                                 R"({"input": {}})",
                                 R"({"input": {"index": -1}})",
                                 R"({"input": {"index": 1.0}})",
                                 R"({"input": {"index": 18446744073709551615}})",
                                 R"({"input": {"index": 0, "split": "all"}})",
                                 R"({"input": {"index": 0, "split": 1}})",
                                 R"({"input": {"index": 0, "parts": {"x": "YWI="}}})",
                                 R"({"input": {"index": 0, "parts": {"01": "YWI="}}})",
                                 R"({"input": {"index": 0, "parts": {"0": "?"}}})",
                                 R"({"input": {"index": 0, "numbers": {"0": "1"}}})",
                                 R"({"input": {"index": 0, "numbers": {"0": 1e39}}})",
                                 R"({"input": {"index": 0}, "top": 0})",
                                 R"({"input": {"index": 0}, "top": 101})",
                                 R"({"input": {"index": 0}, "known": {"0": -1}})",
                                 R"({"input": {"index": 0}, "known": [1]})",
                                 R"({"input": {"index": 0}, "output": 7})",
                                 R"({"input": {"index": 0}, "output": [0.5]})",
                                 R"({"input": {"index": 0}, "more": 1})"}) {
    EXPECT_EQ(read_status(post("/api/condition", body)), 400) << body;
  }
  for (const auto* const target : {"/api/input", "/api/input?index=", "/api/input?index=+1",
                                   "/api/input?index=1&index=2", "/api/input?index=%3", "/api/input?index=1&more=2",
                                   "/api/examples?count=201", "/api/examples?filter=right", "/api/run?x=1", "/?x=1"}) {
    EXPECT_EQ(read_status(get(target)), 400) << target;
  }
}

TEST(Question, HasBoundedDepthAndCount) {
  const auto deep = [](int depth) {
    return R"({"input": {"index": 0}, "output": )" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(read_status(post("/api/explain", deep(1))), 200);
  EXPECT_EQ(read_status(post("/api/explain", deep(100000))), 400);
  std::string many = R"({"input": {"index": 0}, "output": [0)";
  for (int value = 0; value < 200000; ++value) many += ",0";
  EXPECT_EQ(read_status(post("/api/explain", many + "]}")), 400);
}

TEST(Question, NamesFilesOfThePageAlone) {
  for (const auto* const target : {"/../config.toml", "/..", "/.hidden", "/a/b.js", "/%2e%2e/x", "//etc", "/a\\b"}) {
    EXPECT_EQ(read_status(get(target)), 404) << target;
  }
}

TEST(Head, IsInOrder) {
  EXPECT_EQ(head_status(get("/api/run")), 200);
  EXPECT_EQ(head_status(post("/api/predict", "{}")), 200);
  EXPECT_EQ(head_status(get("/api/run", {{"Origin", "http://localhost:8400"}, {"Sec-Fetch-Site", "same-origin"}})),
            200);
}

TEST(Head, IsRefusedUnderAnotherNameOrFromAnotherOrigin) {
  auto request = get("/api/run");
  for (const auto* const host : {"evil.example", "evil.example:8400", "127.0.0.1", "127.0.0.1:8401", ""}) {
    request.headers[0].second = host;
    EXPECT_EQ(head_status(request), 403) << host;
  }
  request.headers = {{"Host", "127.0.0.1:8400"}, {"host", "127.0.0.1:8400"}};
  EXPECT_EQ(head_status(request), 403);
  request.headers.clear();
  EXPECT_EQ(head_status(request), 403);
  for (const auto* const origin : {"null", "http://evil.example", "https://127.0.0.1:8400", "http://127.0.0.1", ""}) {
    EXPECT_EQ(head_status(get("/api/run", {{"Origin", origin}})), 403) << origin;
  }
  for (const auto* const from : {"cross-site", "same-site", ""}) {
    EXPECT_EQ(head_status(get("/api/run", {{"Sec-Fetch-Site", from}})), 403) << from;
  }
}

TEST(Head, OfAServerOnAllAddressesIsAskedByDigits) {
  const Site site{.hosts = {"0.0.0.0:8400"}, .any_address_with_port = 8400};
  auto request = get("/api/run");
  for (const auto& [host, status] : std::vector<std::pair<std::string, int>>{
           {"192.168.1.7:8400", 200}, {"[fe80::1]:8400", 200}, {"192.168.1.7", 403}, {"evil.example:8400", 403}}) {
    request.headers[0].second = host;
    EXPECT_EQ(head_status(request, site), status) << host;
  }
}

TEST(Head, NeedsTheTokenWhereThereIsOne) {
  EXPECT_EQ(head_status(get("/api/run"), kWithToken), 401);
  EXPECT_EQ(head_status(get("/"), kWithToken), 401);
  EXPECT_EQ(head_status(get("/?token=s3cret"), kWithToken), 200);
  EXPECT_EQ(head_status(get("/?token=S3cret"), kWithToken), 401);
  EXPECT_EQ(head_status(get("/api/run?token=s3cret"), kWithToken), 401);
  EXPECT_EQ(head_status(get("/api/run", {{"Authorization", "Bearer s3cret"}}), kWithToken), 200);
  EXPECT_EQ(head_status(get("/api/run", {{"Authorization", "Bearer s3cret1"}}), kWithToken), 401);
  EXPECT_EQ(head_status(get("/api/run", {{"Authorization", "Bearer "}}), kWithToken), 401);
  EXPECT_EQ(head_status(get("/api/run", {{"Cookie", "x=y; anesi_8400=s3cret"}}), kWithToken), 200);
  EXPECT_EQ(head_status(get("/api/run", {{"Cookie", "anesi_8401=s3cret"}}), kWithToken), 401);
  EXPECT_TRUE(brings_token(get("/?token=s3cret"), kWithToken));
  EXPECT_FALSE(brings_token(get("/"), kSite));
}

TEST(Head, HasABodyOfKnownLengthAndType) {
  const auto with = [](const std::string& name, const std::string& value) {
    auto request = post("/api/predict", "{}");
    std::erase_if(request.headers, [&](const auto& header) { return header.first == name; });
    if (!value.empty()) request.headers.emplace_back(name, value);
    return head_status(request);
  };
  EXPECT_EQ(with("Content-Type", "text/plain"), 415);
  EXPECT_EQ(with("Content-Type", ""), 415);
  EXPECT_EQ(with("Content-Encoding", "gzip"), 415);
  EXPECT_EQ(with("Content-Length", ""), 400);
  EXPECT_EQ(with("Content-Length", "-1"), 400);
  EXPECT_EQ(with("Content-Length", "5000000"), 413);
  EXPECT_EQ(with("Content-Length", "99999999999999999999999"), 413);
  EXPECT_EQ(with("Transfer-Encoding", "chunked"), 400);
  EXPECT_EQ(head_status(get("/api/run", {{"Content-Length", "3"}})), 400);
}

TEST(Head, HasAMethodAndAnAddress) {
  auto request = get("/api/predict");
  EXPECT_EQ(head_status(request), 405);
  request.target = "/api/run";
  request.method = "HEAD";
  EXPECT_EQ(head_status(request), 405);
  EXPECT_EQ(head_status(get("http://127.0.0.1/")), 400);
  EXPECT_EQ(head_status(get("/a b")), 400);
  EXPECT_EQ(head_status(get("/" + std::string(9000, 'a'))), 414);
}

TEST(Secret, IsComparedAsAWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("ab", "abc"));
  EXPECT_FALSE(same_secret("abcabc", "abc"));
  EXPECT_FALSE(same_secret("", "abc"));
}

}  // namespace
}  // namespace anesi::serve
