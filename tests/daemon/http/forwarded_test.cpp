#include "daemon/http/forwarded.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::daemon {
namespace {

std::string client(std::vector<std::string> trusted, std::string_view peer, Headers headers) {
  return must(TrustedProxies::parse(trusted)).client_of(peer, headers);
}

TEST(ForwardedFor, IsIgnoredFromAPeerThatIsNoTrustedProxy) {
  EXPECT_EQ(client({}, "203.0.113.9", {{"X-Forwarded-For", "10.0.0.1"}}), "203.0.113.9");
  EXPECT_EQ(client({"10.0.0.5"}, "203.0.113.9", {{"X-Forwarded-For", "10.0.0.1"}}), "203.0.113.9");
}

TEST(ForwardedFor, TheRightmostUntrustedHopIsTheClient) {
  EXPECT_EQ(client({"10.0.0.5"}, "10.0.0.5", {{"X-Forwarded-For", "1.1.1.1, 198.51.100.7"}}), "198.51.100.7");
  EXPECT_EQ(
      client({"10.0.0.5", "10.0.0.6"}, "10.0.0.5", {{"X-Forwarded-For", "1.1.1.1, 198.51.100.7, 10.0.0.6"}}),
      "198.51.100.7");
}

TEST(ForwardedFor, SeveralHeaderLinesAreOneList) {
  EXPECT_EQ(client({"10.0.0.5", "10.0.0.6"}, "10.0.0.5",
                   {{"X-Forwarded-For", "1.1.1.1"}, {"x-forwarded-for", "198.51.100.7 ,10.0.0.6"}}),
            "198.51.100.7");
}

TEST(ForwardedFor, NonsenseEndsTheTrustAtTheProxyThatSentIt) {
  EXPECT_EQ(client({"10.0.0.5"}, "10.0.0.5", {{"X-Forwarded-For", "1.1.1.1, unknown"}}), "10.0.0.5");
  EXPECT_EQ(client({"10.0.0.5"}, "10.0.0.5", {{"X-Forwarded-For", ""}}), "10.0.0.5");
  EXPECT_EQ(client({"10.0.0.5"}, "10.0.0.5", {}), "10.0.0.5");
}

TEST(ForwardedFor, SpellingsOfOneAddressAreOne) {
  EXPECT_EQ(client({"FD00:0:0::5"}, "fd00::5", {{"X-Forwarded-For", "[2001:DB8::1]"}}), "2001:db8::1");
  EXPECT_EQ(client({"10.0.0.5"}, "10.0.0.5", {{"X-Forwarded-For", "::ffff:198.51.100.7"}}), "198.51.100.7");
}

TEST(ForwardedFor, APeerOnTheUnixSocketIsTrustedWhenListed) {
  EXPECT_EQ(client({"unix"}, "unix", {{"X-Forwarded-For", "198.51.100.7"}}), "198.51.100.7");
  EXPECT_EQ(client({}, "unix", {{"X-Forwarded-For", "198.51.100.7"}}), "unix");
}

TEST(TrustedProxies, AreLiteralAddressesAlone) {
  for (auto bad : {"proxy.example", "10.0.0.0/8", "", "10.0.0.5:80"})
    EXPECT_EQ(TrustedProxies::parse({bad}).error().code, Code::usage) << bad;
}

}  // namespace
}  // namespace dash::daemon
