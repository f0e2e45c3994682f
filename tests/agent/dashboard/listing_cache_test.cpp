#include "core/agent/dashboard/listing_cache.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

struct ListingCacheTest : testing::Test {
  // Two replicas over one database.
  Scratch scratch;
  FakeClock clock;
  std::unique_ptr<db::Sql> sql = scratch_database(scratch);
  config::EncryptedStore config{*sql, clock, Secret(std::string(32, 'c'))};
  ListingCache here{*sql, clock, config}, there{*sql, clock, config};
  ShareFolder folder{"a1", "lab", "web"};
  std::vector<SharedFile> files{{"a.yml", 3, "e1"}, {"b.sh", 0, ""}};

  void keep() { must(here.keep(folder, must(here.find(folder)).generation, clock.now(), files)); }
};

TEST_F(ListingCacheTest, KeepsAListingForAllReplicasForTwoMinutes) {
  EXPECT_FALSE(must(here.find(folder)).files);
  keep();
  auto kept = must(there.find(folder)).files.value();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].name, "a.yml");
  EXPECT_EQ(kept[0].size, 3u);
  EXPECT_EQ(kept[0].etag, "e1");
  EXPECT_EQ(kept[1].etag, "");
  clock.advance(std::chrono::seconds(119));
  EXPECT_TRUE(must(there.find(folder)).files);
  clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(must(there.find(folder)).files);
}

TEST_F(ListingCacheTest, IsOfOneAgentShareAndFolder) {
  keep();
  for (const auto& other : {ShareFolder{"a2", "lab", "web"}, ShareFolder{"a1", "lab2", "web"},
                            ShareFolder{"a1", "lab", ""}, ShareFolder{"a1", "lab", "web/x"}})
    EXPECT_FALSE(must(here.find(other)).files) << other.agent_id << other.share << other.subpath;
}

TEST_F(ListingCacheTest, KeepsAnEmptyFolder) {
  files.clear();
  keep();
  EXPECT_EQ(must(here.find(folder)).files.value().size(), 0u);
}

TEST_F(ListingCacheTest, DropsWhatAChangeMadeStale) {
  keep();
  must(there.drop(folder));
  EXPECT_FALSE(must(here.find(folder)).files);
}

// Replica A lists; B changes the share; A's listing comes last.
TEST_F(ListingCacheTest, DoesNotKeepAListingThatAChangeOvertook) {
  auto generation = must(here.find(folder)).generation;
  must(there.drop(folder));
  must(here.keep(folder, generation, clock.now(), files));
  EXPECT_FALSE(must(here.find(folder)).files);
  keep();  // one that began after the change
  EXPECT_TRUE(must(here.find(folder)).files);
}

TEST_F(ListingCacheTest, TakesNoListingFromTheFuture) {
  keep();
  clock.advance(-std::chrono::hours(1));
  EXPECT_FALSE(must(here.find(folder)).files);
}

TEST_F(ListingCacheTest, IsSealed) {
  files[0].name = "very-secret-name.yml";
  keep();
  auto rows = must(db::read<db::Rows>(
      *sql, [](db::Transaction& tx) { return tx.query("SELECT share, listing FROM agent_listings"); }));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].blob(1).find("secret"), std::string::npos);
  EXPECT_EQ(rows[0].text(0).find("lab"), std::string::npos);
  config::EncryptedStore other_key{*sql, clock, Secret(std::string(32, 'd'))};
  EXPECT_FALSE(must(ListingCache(*sql, clock, other_key).find(folder)).files);
}

TEST_F(ListingCacheTest, HoldsNothingOfAnotherFolderBeyondItsTime) {
  keep();
  clock.advance(std::chrono::minutes(3));
  must(here.keep({"a1", "other", ""}, 0, clock.now(), {}));
  auto rows = must(db::read<db::Rows>(*sql, [](db::Transaction& tx) {
    return tx.query("SELECT count(*) FROM agent_listings WHERE listing IS NOT NULL");
  }));
  EXPECT_EQ(rows[0].integer(0), 1);
}

}  // namespace
}  // namespace dash::agent
