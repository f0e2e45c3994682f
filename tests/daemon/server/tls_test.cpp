#include "daemon/server/tls.hpp"

#include "core/base/file.hpp"
#include "daemon/server/listener.hpp"
#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

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
