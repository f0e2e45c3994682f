#include "daemon/server/console.hpp"

#include "core/base/embedded.hpp"
#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

std::string get_with(std::string_view path, std::string_view field) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n\r\n", path, field);
}

TEST(Console, EachFileHasItsTypeAndThePolicy) {
  Running running({});
  for (auto [path, type] : {std::pair{"/console/", "text/html; charset=utf-8"},
                            std::pair{"/console/main.js", "text/javascript; charset=utf-8"},
                            std::pair{"/console/views/jobs.js", "text/javascript; charset=utf-8"},
                            std::pair{"/console/console.css", "text/css; charset=utf-8"},
                            std::pair{"/console/icon.svg", "image/svg+xml"}}) {
    auto answer = ask(running.port(), get(path));
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.headers["content-type"], type);
    EXPECT_EQ(answer.headers["content-security-policy"], kConsolePolicy);
    EXPECT_EQ(answer.headers["x-content-type-options"], "nosniff");
    EXPECT_EQ(answer.headers["cache-control"], "no-cache");
  }
}

TEST(Console, AFileThatTheBrowserHasIsNotSentAgain) {
  Running running({});
  auto tag = ask(running.port(), get("/console/main.js")).headers["etag"];
  auto again = ask(running.port(), get_with("/console/main.js", "If-None-Match: W/\"other\", W/" + tag));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.headers["etag"], tag);
  EXPECT_EQ(ask(running.port(), get_with("/console/main.js", "If-None-Match: \"other\"")).status, 200);
}

TEST(Console, OnlyItsOwnFilesAreServed) {
  Running running({});
  for (auto path : {"/console/none.js", "/console/views", "/console/views/", "/console/..%2fopenapi.yaml"})
    EXPECT_EQ(ask(running.port(), get(path)).status, 404) << path;
}

TEST(Console, ScriptAndStyleAreSmall) {
  std::size_t bytes = 0;
  for (const auto& file : embedded_files()) {
    std::string_view path = file.path;
    bool is_script_or_style = path.ends_with(".js") || path.ends_with(".css");
    bool is_of_api_page = path == "daemon/console/api.css";  // the console does not load it
    if (path.starts_with("daemon/console/") && is_script_or_style && !is_of_api_page)
      bytes += file.bytes().size();
  }
  EXPECT_GT(bytes, 50'000u);
  EXPECT_LT(bytes, 150'000u);
}

}  // namespace
}  // namespace dash::daemon
