#include "core/net/ssh/ssh_address.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::net {
namespace {

TEST(SshAddress, TakesUserHostAndPort) {
  auto a = must(parse_ssh_address("ssh://ops@h.example:2222"));
  EXPECT_EQ(a.user + " " + a.host, "ops h.example");
  EXPECT_EQ(a.port, 2222);
  EXPECT_EQ(must(parse_ssh_address("ssh://h/")).host, "h");
  EXPECT_EQ(must(parse_ssh_address("ssh://h")).port, 0);
  EXPECT_EQ(must(parse_ssh_address("ssh://u@[::1]:22")).host, "::1");
  EXPECT_EQ(must(parse_ssh_address("ssh://[fe80::1]")).port, 0);
}

TEST(SshAddress, RefusesWhatIsNone) {
  for (auto url : {"ssh://", "ssh://@h", "ssh://h:", "ssh://h:0", "ssh://h:65536", "ssh://h:2x",
                   "ssh://-oProxyCommand=x", "ssh://-l@h", "ssh://h/path", "ssh://a b", "ssh://::1",
                   "ssh://[::1", "ssh://[::1]x", "http://h", "ssh://u:p@h", "ssh://h'"})
    EXPECT_EQ(parse_ssh_address(url).error().code, Code::usage) << url;
}

}  // namespace
}  // namespace dash::net
