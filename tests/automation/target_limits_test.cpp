#include "core/automation/target_limits.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

TargetLimits limits_of(const std::string& targets) {
  return must(
      read_target_limits(config::SettingsSnapshot(config::Values{{std::string(kTargetsKey), targets}})));
}

Host host_at(const std::string& address, bool is_kept = true) {
  Host host;
  host.name = "web1";
  host.written_address = host.address = address;
  host.is_kept = is_kept;
  return host;
}

class TargetLimitsOf : public testing::Test {
 protected:
  // The address to connect to; the refusal's text otherwise.
  std::string reach(const std::string& targets, const Host& host) {
    auto allowed = allowed_address(limits_of(targets), principal_, host);
    return allowed ? *allowed : allowed.error().message;
  }
  bool may(const std::string& targets, const Host& host) {
    return bool(allowed_address(limits_of(targets), principal_, host));
  }
  Principal principal_ = [] {
    Principal ada;
    ada.username = "ada";
    return ada;
  }();
};

TEST_F(TargetLimitsOf, AMemberKeepThisMachineAndItsLinksOutWhileBlank) {
  for (auto own :
       {"127.0.0.1", "localhost", "2130706433", "0x7f.1", "::ffff:127.0.0.1", "::1", "169.254.169.254"})
    EXPECT_FALSE(may("", host_at(own))) << own;
  EXPECT_EQ(reach("", host_at("10.0.0.5")), "10.0.0.5");
  EXPECT_EQ(reach("", host_at("167772165")), "10.0.0.5");  // what was checked is what is connected to
  EXPECT_NE(reach("", host_at("localhost")).find("automation_targets"), std::string::npos);
}

TEST_F(TargetLimitsOf, AMemberHoldForKeptHostsToo) {
  EXPECT_TRUE(may("10.0.0.0/8, 192.168.0.0/16", host_at("192.168.3.4")));
  EXPECT_FALSE(may("10.0.0.0/8", host_at("192.168.3.4")));
  EXPECT_EQ(reach("127.0.0.0/8", host_at("localhost")), "127.0.0.1");
  EXPECT_EQ(reach("localhost", host_at("LOCALHOST.")).find("host"), std::string::npos);
}

TEST_F(TargetLimitsOf, AListedNameNeverLeadsHome) {
  // "web1" is listed, as the host's name or as a name in DNS; its address is this machine's.
  EXPECT_FALSE(may("web1", host_at("127.0.0.1")));
  EXPECT_TRUE(may("web1", host_at("10.0.0.1")));
  EXPECT_FALSE(may("web2", host_at("10.0.0.1")));
  EXPECT_FALSE(may("*.example", host_at("10.0.0.1")));
}

TEST_F(TargetLimitsOf, AnAdminHoldForAdHocAddressesOnly) {
  principal_.is_admin = true;
  EXPECT_EQ(reach("", host_at("localhost", /*is_kept=*/false)), "localhost");
  EXPECT_EQ(reach("10.0.0.0/8", host_at("127.0.0.1")), "127.0.0.1");
  EXPECT_FALSE(may("10.0.0.0/8", host_at("127.0.0.1", /*is_kept=*/false)));
  EXPECT_FALSE(may("web1", host_at("10.0.0.1", /*is_kept=*/false)));  // its name is the caller's own choice
}

TEST_F(TargetLimitsOf, WinrmAllowEveryAddressOfTheName) {
  auto host = host_at("10.0.0.7");
  host.connection = Connection::winrm;
  EXPECT_EQ(reach("10.0.0.0/8", host), "10.0.0.7");
  EXPECT_FALSE(may("10.0.0.0/30", host));
}

TEST(TargetSettings, RefuseWhatNobodyCouldRead) {
  for (auto good : {"", " ", "10.0.0.0/8", "10.0.0.0/8,,web1.example", "*.example.com", "::1"})
    EXPECT_TRUE(check_targets(kTargetsKey, good)) << good;
  for (auto bad : {"10.0.0.0/99", "10.0.0", "999.1.1.1", "a b", "http://x", "*.*", "10.0.0.0-10.0.0.9"})
    EXPECT_EQ(check_targets(kTargetsKey, bad).error().code, Code::invalid) << bad;
  for (auto good : {"", "1", " 500 ", "10000"}) EXPECT_TRUE(check_max_targets(kMaxTargetsKey, good)) << good;
  for (auto bad : {"0", "-1", "10001", "many", "5.0"})
    EXPECT_EQ(check_max_targets(kMaxTargetsKey, bad).error().code, Code::invalid) << bad;
}

TEST(TargetSettings, ThatCannotBeReadAreNoBlankOnes) {
  auto code = [](const config::SettingsSnapshot& settings) {
    return read_target_limits(settings).error().code;
  };
  EXPECT_EQ(code(config::SettingsSnapshot({{std::string(kTargetsKey), "10.0.0.0/99"}})), Code::conflict);
  EXPECT_EQ(code(config::SettingsSnapshot({}, {std::string(kTargetsKey)})), Code::conflict);
  EXPECT_EQ(code(config::SettingsSnapshot({}, {std::string(kMaxTargetsKey)})), Code::conflict);
}

}  // namespace
}  // namespace dash::automation
