#include "core/config/settings.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/captured_log.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::config {
namespace {

const Author kAlice{"alice", "test"};
constexpr std::array<std::string_view, 2> kKeys{"a", "b"};
constexpr KeyGroup kGroup{"test", kKeys};

class SharedSnapshot : public testing::Test {
 protected:
  void set(const Changes& changes) { must(store_.apply(changes, kAlice)); }
  SnapshotPtr snapshot() { return must(settings_.snapshot(kGroup)); }

  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  EncryptedStore store_{*sql_, clock_, derive_store_key(Secret("the signing key"), {})};
  Settings settings_{store_};
};

TEST_F(SharedSnapshot, HoldsTheKeysOfItsGroup) {
  set({{"a", "one"}, {"c", "three"}});
  EXPECT_EQ(snapshot()->values(), (Values{{"a", "one"}}));
  EXPECT_EQ(snapshot()->text("a"), "one");
  EXPECT_EQ(snapshot()->text("b"), "");
  EXPECT_EQ(must(settings_.snapshot(kAllSettings))->values(), (Values{{"a", "one"}, {"c", "three"}}));
}

TEST_F(SharedSnapshot, IsTheSameObjectUntilOneOfItsRowsChanges) {
  set({{"a", "one"}});
  auto first = snapshot();
  set({{"c", "another group's"}});
  EXPECT_EQ(snapshot(), first);
  set({{"b", "two"}});
  EXPECT_NE(snapshot(), first);
  EXPECT_EQ(snapshot()->text("b"), "two");
  EXPECT_EQ(first->text("b"), "");
  set({{"a", std::nullopt}});
  EXPECT_EQ(snapshot()->values(), (Values{{"b", "two"}}));
}

TEST_F(SharedSnapshot, ShowsACommitOfAnotherConnectionAtOnce) {
  set({{"a", "one"}});
  EXPECT_EQ(snapshot()->text("a"), "one");
  auto elsewhere = must(db::open_sqlite(scratch_ / "dashctl.db"));
  EncryptedStore other(*elsewhere, clock_, derive_store_key(Secret("the signing key"), {}));
  must(other.apply({{"a", "two"}}, kAlice));
  EXPECT_EQ(snapshot()->text("a"), "two");
}

TEST_F(SharedSnapshot, NamesTheRowsThatItsKeyDoesNotOpen) {
  set({{"a", "one"}, {"b", ""}});
  CapturedLog log;
  EncryptedStore other(*sql_, clock_, derive_store_key(Secret("another key"), {}));
  Settings settings(other);
  for (int i = 0; i < 2; ++i) {
    auto snapshot = must(settings.snapshot(kGroup));
    EXPECT_EQ(snapshot->values(), (Values{{"a", ""}, {"b", ""}}));
    EXPECT_EQ(snapshot->unreadable(), std::set<std::string>{"a"});
    EXPECT_TRUE(snapshot->is_unreadable("a"));
    EXPECT_FALSE(snapshot->is_unreadable("b"));
  }
  EXPECT_EQ(log.count("config.unreadable"), 1u);
  must(other.apply({{"a", "one"}}, kAlice));
  EXPECT_TRUE(must(settings.snapshot(kGroup))->unreadable().empty());
}

int decodings = 0;

std::size_t decode_length(const SettingsSnapshot& snapshot) {
  ++decodings;
  return snapshot.text("a").size();
}

TEST_F(SharedSnapshot, IsDecodedOnce) {
  set({{"a", "one"}});
  decodings = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*snapshot()->decoded(&decode_length), 3u);
  EXPECT_EQ(decodings, 1);
  set({{"a", "seven"}});
  EXPECT_EQ(*snapshot()->decoded(&decode_length), 5u);
  EXPECT_EQ(decodings, 2);
}

TEST_F(SharedSnapshot, GivesTheNearestNumberThatASettingMayHave) {
  set({{"job_lease_seconds", "9223372036854775807"}, {"approval_expiry_hours", " -5 "}, {"other", "-5"}});
  EXPECT_EQ(must(settings_.integer("job_lease_seconds", 60)), 24 * 3600);
  EXPECT_EQ(must(settings_.integer("approval_expiry_hours", 72)), 1);
  EXPECT_EQ(must(settings_.integer("other", 0)), -5);
  EXPECT_EQ(must(settings_.integer("absent", 7)), 7);
}

TEST(ParseList, TakesCommaSeparatedTextAndJsonArrays) {
  EXPECT_EQ(parse_list("k", " a, b ,,c ").value(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(parse_list("k", R"(["a", " b ", ""])").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parse_list("k", "  ").value().empty());
}

TEST(ParseList, NeverTakesBrokenJsonForAnEmptyList) {
  for (auto text : {"[us-east-1]", "[1]", "{\"a\":1}", "[\"a\"", "\"a\""})
    EXPECT_FALSE(parse_list("k", text)) << text;
}

TEST(ParseFlag, KnowsTheEightWordsAndRefusesOthers) {
  for (auto text : {"1", "TRUE", " yes ", "On"}) EXPECT_TRUE(parse_flag("k", text, false).value()) << text;
  for (auto text : {"0", "False", "no", "off"}) EXPECT_FALSE(parse_flag("k", text, true).value()) << text;
  EXPECT_TRUE(parse_flag("k", "", true).value());
  EXPECT_FALSE(parse_flag("k", "maybe", true));
}

}  // namespace
}  // namespace dash::config
