// What only a server can refuse, and what a network breaks.
#include "tests/contract/store_suite.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_proxy.hpp"

namespace dash::storage {
namespace {

class StoreFaultsContract : public StoreSuite {
 protected:
  bool is_honest_failure(const Error& error) {
    return error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::upstream ||
           error.code == Code::busy;
  }
};

TEST_P(StoreFaultsContract, NamesWrongCredentials) {
  auto stranger = open(GetParam().with_wrong_credentials(settings_));
  auto refused = stranger->list("", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("credentials"), std::string::npos) << refused.error().message;
}

TEST_P(StoreFaultsContract, NamesAServerThatIsNotThere) {
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = "http://127.0.0.1:9";
  EXPECT_EQ(open(settings)->list("", "").error().code, Code::unreachable);
}

TEST_P(StoreFaultsContract, AConnectionCutInAWriteLeavesNothingBehind) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto bytes = pattern(1 << 20);
  proxy.cut_after(300'000, FaultProxy::Direction::to_server);
  auto put = weak->put(key("cut.deb"), bytes, {});
  ASSERT_FALSE(put);
  EXPECT_TRUE(is_honest_failure(put.error())) << put.error().message;
  EXPECT_TRUE(listed().empty());
  proxy.heal();
  must(weak->put(key("cut.deb"), bytes, {}));
  EXPECT_TRUE(whole(key("cut.deb")) == bytes);
}

TEST_P(StoreFaultsContract, AConnectionCutInAReadIsNoShortSuccess) {
  auto bytes = pattern(1 << 20);
  must(store_->put(key("cut.deb"), bytes, {}));
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  proxy.cut_after(300'000, FaultProxy::Direction::to_client);
  std::string out(1 << 20, '\0');
  auto read = weak->read(key("cut.deb"), 0, "", out);
  ASSERT_FALSE(read);
  EXPECT_TRUE(is_honest_failure(read.error())) << read.error().message;
}

TEST_P(StoreFaultsContract, APartCutInTheMiddleCanBeSentAgain) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto bytes = pattern(kPartBytes + 100);
  auto upload = must(weak->begin(key("part.deb"), bytes.size()));
  proxy.cut_after(3'000'000, FaultProxy::Direction::to_server);
  EXPECT_FALSE(weak->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  proxy.heal();
  must(weak->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  must(weak->put_part(upload, 2, std::string_view(bytes).substr(kPartBytes), true));
  must(weak->commit(upload, must(weak->staged_parts(upload)), {}));
  EXPECT_TRUE(whole(key("part.deb")) == bytes);
}

TEST_P(StoreFaultsContract, ACommitWhoseAnswerIsLostCanBeAskedAgain) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto upload = staged(key("lost.deb"), "bytes");
  auto parts = must(store_->staged_parts(upload));
  proxy.cut_after(1, FaultProxy::Direction::to_client);
  auto lost = weak->commit(upload, parts, {});
  ASSERT_FALSE(lost);
  EXPECT_TRUE(is_honest_failure(lost.error()) || lost.error().code == Code::tls) << lost.error().message;
  proxy.heal();
  EXPECT_EQ(must(weak->commit(upload, parts, {})).size, 5u);
  EXPECT_EQ(listed(), std::set<std::string>{"lost.deb"});
}

class StoreClockContract : public StoreSuite {};

TEST_P(StoreClockContract, NamesAWrongClock) {
  FakeClock late("2019-01-01T00:00:00Z");
  auto refused = open(settings_, &late)->list("", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("clock"), std::string::npos) << refused.error().message;
}

INSTANTIATE_TEST_SUITE_P(Clouds, StoreFaultsContract,
                         testing::ValuesIn(cloud_stores().begin(), cloud_stores().end()), test_name);
INSTANTIATE_TEST_SUITE_P(Clouds, StoreClockContract, testing::ValuesIn(clock_checking_stores()), test_name);

}  // namespace
}  // namespace dash::storage
