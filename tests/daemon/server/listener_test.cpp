#include "daemon/server/listener.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

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

}  // namespace
}  // namespace dash::daemon
