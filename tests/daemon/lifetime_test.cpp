#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "core/base/file.hpp"
#include "daemon/server/listener.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

TEST(Drain, ARequestUnderWayEndsWhileNewConnectionsAreRefused) {
  Gate gate;
  Running running(
      {{.pattern = "/api/slow", .auth = Auth::anybody, .handler = [&](Request&) -> Result<Response> {
          gate.pass();
          return json_response(200, OrderedJson{{"done", true}});
        }}});
  auto port = running.port();
  RawClient busy(port), idle(port);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  busy.send(get("/api/slow"));
  gate.await_arrivals(1);
  auto stopping = std::async(std::launch::async, [&] { running.server->stop(); });
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(wait_until([&] { return !RawClient(port).connected(); }));
  gate.open();
  auto answer = busy.receive();
  EXPECT_EQ(answer.body, R"({"done":true})");
  EXPECT_EQ(answer.headers["connection"], "close");
  busy.close();
  stopping.wait();
  EXPECT_EQ(running.log.count("server.drain_timeout"), 0u);
}

TEST(Drain, HasADeadline) {
  ServerOptions options;
  options.limits.drain_time = std::chrono::milliseconds(20);
  Running running({echo()}, options);
  RawClient stuck(running.port());
  stuck.send("POST /api/echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nsome");
  EXPECT_TRUE(wait_until([&] {
    return ask(running.port(), get("/metrics")).body.find("dashctl_connections 2") != std::string::npos;
  }));
  running.server->stop();
  EXPECT_EQ(running.log.count("server.drain_timeout"), 1u);
  EXPECT_TRUE(stuck.closed());
}

TEST(UnixSocket, ServesItsGroupAndCleansUp) {
  Scratch scratch;
  auto path = scratch / "dashctl.sock";
  {
    Running running({hello()}, {.listen = {"unix:" + path}});
    EXPECT_EQ(running.port(), 0);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0660u);
    EXPECT_EQ(RawClient(path).ask(get("/api/hello")).status, 200);
    EXPECT_EQ(running.log.count(R"("event":"listening","addr":"unix:)" + path), 1u);
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(UnixSocket, ReplacesAStaleOneAndLeavesALiveOneAndOtherFilesAlone) {
  Scratch scratch;
  auto path = scratch / "dashctl.sock";
  BufferPool buffers(1);
  {  // a process that died: its socket file stays
    auto dead = must(listen_on("unix:" + path));
    ::rename(path.c_str(), (path + ".kept").c_str());
  }
  ::rename((path + ".kept").c_str(), path.c_str());
  Running running({hello()}, {.listen = {"unix:" + path}});
  EXPECT_EQ(RawClient(path).ask(get("/api/hello")).status, 200);
  auto second = Server::start({.listen = {"unix:" + path}}, {}, buffers);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process answers there"), std::string::npos);
  EXPECT_EQ(RawClient(path).ask(get("/api/hello")).status, 200);
  must(write_file(scratch / "file", "precious", 0600));
  EXPECT_FALSE(Server::start({.listen = {"unix:" + (scratch / "file")}}, {}, buffers));
  EXPECT_EQ(must(read_file(scratch / "file", 100)), "precious");
}

TEST(Listening, TellsTheRealPortAndSpeaksIpv6) {
  Running running({hello()}, {.listen = {"127.0.0.1:0", "[::1]:0"}, .io_threads = 2});
  EXPECT_EQ(running.log.count(fmt::format(R"("event":"listening","addr":"127.0.0.1:{}")", running.port())),
            1u);
  EXPECT_EQ(running.log.count(R"("addr":"[::1]:)"), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
}

TEST(Tls, NeedsBothFilesAndNamesTheOneThatIsNoGood) {
  BufferPool buffers(1);
  auto refusal = [&](std::string certificate, std::string key) {
    return Server::start(
               {.listen = {"127.0.0.1:0"}, .tls_certificate_file = certificate, .tls_key_file = key}, {},
               buffers)
        .error()
        .message;
  };
  EXPECT_NE(refusal("cert.pem", "").find("both files"), std::string::npos);
  EXPECT_NE(refusal("/nonexistent/cert.pem", "/nonexistent/key.pem").find("/nonexistent/cert.pem"),
            std::string::npos);
}

}  // namespace
}  // namespace dash::daemon
