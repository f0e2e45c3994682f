#include "core/config/encrypted_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/config/settings.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::config {
namespace {

const Author kAuthor{"alice", "test"};

class ConfigStore : public testing::Test {
 protected:
  EncryptedStore open(std::string_view key) {
    return EncryptedStore(*sql_, clock_, derive_store_key(Secret(std::string(key)), {}));
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  EncryptedStore store_{*sql_, clock_, derive_store_key(Secret("the signing key"), {})};
};

TEST_F(ConfigStore, GivesBackWhatWasWrittenAndNothingForAnAbsentKey) {
  ASSERT_TRUE(store_.apply({{"a", "one"}, {"b", ""}, {"c", "\xE2\x82\xAC and \"quotes\""}}, kAuthor));
  EXPECT_EQ(store_.get("a").value(), "one");
  EXPECT_EQ(store_.get("b").value(), "");
  EXPECT_EQ(store_.get("c").value(), "\xE2\x82\xAC and \"quotes\"");
  EXPECT_EQ(store_.get("absent").value(), std::nullopt);
  EXPECT_EQ(store_.all().value().size(), 3u);
}

// More than is sealed or written at once.
TEST_F(ConfigStore, AppliesALargeChangeWholeAndOnce) {
  Changes first, second;
  for (int n = 0; n < 5001; ++n) first[fmt::format("key_{}", n)] = second[fmt::format("key_{}", n)] = "old";
  ASSERT_FALSE(store_.apply(first, kAuthor).value().empty());
  second["key_17"] = second["key_4900"] = "new";
  second["key_2500"] = std::nullopt;
  auto change = store_.apply(second, kAuthor).value();
  auto all = store_.all().value();
  EXPECT_EQ(all.size(), 5000u);
  EXPECT_EQ(all.at("key_17") + all.at("key_4900") + all.at("key_5000"), "newnewold");
  auto history = store_.history("", 0, 10).value();
  ASSERT_GE(history.size(), 4u);
  std::vector<std::string> changed;
  for (const auto& entry : history)
    if (entry.change_id == change) changed.push_back(entry.key);
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<std::string>{"key_17", "key_2500", "key_4900"}));
  EXPECT_EQ(store_.apply(first, kAuthor).value().empty(), false);
  EXPECT_EQ(store_.all().value().size(), 5001u);
  EXPECT_TRUE(store_.apply(first, kAuthor).value().empty());
}

TEST_F(ConfigStore, TakesNoKeyThatIsBlankOrNoText) {
  for (std::string key : {"", "  ", "\xFF", "a\nb", "\x7F"})
    EXPECT_FALSE(store_.apply({{key, "x"}}, kAuthor)) << key;
  EXPECT_FALSE(store_.apply({{std::string(129, 'k'), "x"}}, kAuthor));
  EXPECT_TRUE(store_.apply({{std::string(128, 'k'), "x"}, {"entitle/agent \xC3\xA9", "x"}}, kAuthor));
}

TEST_F(ConfigStore, KeepsNoPlainTextInTheDatabaseFile) {
  ASSERT_TRUE(store_.apply({{"cloud1_secret_access_key", "very-secret-value"}}, kAuthor));
  for (auto name : {"dashctl.db", "dashctl.db-wal"}) {
    std::ifstream file(scratch_ / name, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.find("very-secret-value"), std::string::npos) << name;
  }
}

TEST_F(ConfigStore, ReadsAsEmptyUnderAnotherKeyWithOneErrorLinePerKey) {
  ASSERT_TRUE(store_.apply({{"a", "one"}, {"b", "two"}}, kAuthor));
  CapturedLog log;
  auto other = open("another key");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(other.get("a").value(), "");
    EXPECT_EQ(other.all().value(), (Values{{"a", ""}, {"b", ""}}));
  }
  EXPECT_EQ(log.count("config.unreadable"), 2u);
  EXPECT_EQ(log.count("\"level\":\"error\""), 2u);
  EXPECT_EQ(other.unreadable_keys().value(), (std::set<std::string>{"a", "b"}));
}

TEST_F(ConfigStore, RefusesARowThatWasMovedToAnotherKeysName) {
  ASSERT_TRUE(store_.apply({{"a", "one"}, {"b", "two"}}, kAuthor));
  ASSERT_TRUE(sql_->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE config SET value = (SELECT value FROM config WHERE key = 'a') WHERE key = 'b'"));
    return {};
  }));
  EXPECT_EQ(store_.get("b").value(), "");
}

TEST_F(ConfigStore, WritesNothingWhenNothingDiffers) {
  EXPECT_NE(store_.apply({{"a", "one"}}, kAuthor).value(), "");
  EXPECT_EQ(store_.apply({{"a", "one"}, {"absent", std::nullopt}}, kAuthor).value(), "");
  EXPECT_EQ(store_.history("", 0, 100).value().size(), 1u);
}

TEST_F(ConfigStore, WritesAThousandChangesAsOne) {
  Changes first, second;
  for (int i = 0; i < 1000; ++i) first[fmt::format("key{}", i)] = fmt::format("value{}", i);
  ASSERT_TRUE(store_.apply(first, kAuthor));
  second = first;
  second["key1"] = "other";
  second["key2"] = std::nullopt;
  second["never there"] = std::nullopt;
  auto change = store_.apply(second, kAuthor).value();
  EXPECT_EQ(store_.all().value().size(), 999u);
  EXPECT_EQ(store_.get("key1").value(), "other");
  EXPECT_EQ(store_.get("key999").value(), "value999");
  EXPECT_EQ(store_.history("", 0, 10000).value().size(), 1002u);
  EXPECT_EQ(store_.history("key2", 0, 1).value().at(0).change_id, change);
}

TEST_F(ConfigStore, UndoesAChangeWholeSecretsIncluded) {
  ASSERT_TRUE(store_.apply({{"kept", "old"}, {"gone", "was here"}}, kAuthor));
  auto change = store_.apply({{"kept", "new"}, {"added", "x"}, {"gone", std::nullopt}}, kAuthor).value();
  Changes undo;
  ASSERT_TRUE(sql_->read([&](db::Transaction& tx) -> Result<void> {
    undo = TRY(store_.undo_of(tx, change));
    return {};
  }));
  ASSERT_TRUE(store_.apply(undo, kAuthor));
  EXPECT_EQ(store_.all().value(), (Values{{"kept", "old"}, {"gone", "was here"}}));
}

TEST_F(ConfigStore, DoesNotUndoOverALaterChange) {
  ASSERT_TRUE(store_.apply({{"a", "1"}}, kAuthor));
  auto change = store_.apply({{"a", "2"}}, kAuthor).value();
  ASSERT_TRUE(store_.apply({{"a", "3"}}, kAuthor));
  auto undo = sql_->read([&](db::Transaction& tx) -> Result<void> {
    TRY(store_.undo_of(tx, change));
    return {};
  });
  ASSERT_FALSE(undo);
  EXPECT_EQ(undo.error().code, Code::drift);
  EXPECT_NE(undo.error().message.find(": a;"), std::string::npos) << undo.error().message;
}

TEST_F(ConfigStore, RefusesKeysThatNobodyCouldName) {
  for (std::string key :
       {std::string(), std::string(129, 'k'), std::string("a\nb"), std::string("a\0b", 3)}) {
    auto refused = store_.apply({{key, "v"}}, kAuthor);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
  }
  EXPECT_TRUE(store_.apply({{std::string(128, 'k'), "v"}}, kAuthor));
}

TEST_F(ConfigStore, HistoryTellsWhoWhenAndWhat) {
  ASSERT_TRUE(store_.apply({{"a", "1"}}, {"alice", "cli"}));
  clock_.advance(std::chrono::seconds(5));
  ASSERT_TRUE(store_.apply({{"a", std::nullopt}}, {"bob", "api"}));
  auto history = store_.history("a", 0, 10).value();
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].changed_by, "bob");
  EXPECT_TRUE(history[0].had_value);
  EXPECT_FALSE(history[0].has_value);
  EXPECT_EQ(format_iso(history[0].changed_at), "2026-07-03T14:00:05Z");
  EXPECT_EQ(history[1].origin, "cli");
}

}  // namespace
}  // namespace dash::config
