#include "core/migrate/http_target.hpp"

#include <gtest/gtest.h>

#include "tests/migrate/migration.hpp"

namespace dash::migrate {
namespace {

TEST(Peer, CountsTheKeyThatItReadsWhereItHoldsBothSpellings) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_access_key_id", "its own"}, {"cloud1_access_key_id", "stray"}};
  EXPECT_EQ(keys(Migration(peer).diff(R"({"config":{"cloud1_access_key_id":"its own"}})"), Category::same),
            "cloud1_access_key_id");
}

TEST(Peer, IsSpokenToInItsOwnNames) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_access_key_id", "old"}, {"storage_active_backend", "s3"}};
  auto done = Migration(peer).apply(
      R"({"config":{"cloud1_access_key_id":"new","storage_active_backend":"obj_cloud4"}})");
  EXPECT_EQ(peer.imports.at(0)["config"],
            (Json{{"aws_access_key_id", "new"}, {"storage_active_backend", "oci_object_storage"}}));
  EXPECT_TRUE(check_applied(done));
}

TEST(Peer, IsKnownEvenBeforeItHasAKeyToShow) {
  FakeDashboard peer;
  peer.is_peer = true;
  Migration(peer).apply(R"({"config":{"cloud1_access_key_id":"new"}})");
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_access_key_id", "new"}}));
  FakeDashboard ours;
  Migration(ours).apply(R"({"config":{"cloud1_access_key_id":"new"}})");
  EXPECT_EQ(ours.imports.at(0)["config"], (Json{{"cloud1_access_key_id", "new"}}));
}

TEST(Peer, IsNotSentRegionFieldsThatItWouldDrop) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_vpc_id", "x"}};
  Migration run(peer);
  auto text =
      R"({"regions":{"aws":{"r":{"vpc_id":"v","brand_new":"n"},"a.b":{"vpc_id":"v"}},"oci":{"r":{"compartment":"c"}}}})";
  auto done = run.apply(text);
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_region.r.vpc_id", "v"}}));
  EXPECT_TRUE(check_applied(done));
  EXPECT_EQ(run.diff(text).would_drop,
            (std::vector<std::string>{"cloud1_region.a.b.vpc_id", "cloud1_region.r.brand_new",
                                      "cloud4_region.r.compartment"}));
}

TEST(Peer, KeepsTheRegionSetsThatTheBundleCouldOnlyReplaceByNothing) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_region_configs", R"({"r1": {"vpc_id": "v"}, "r2": {"vpc_id": "w"}})"},
                 {"gcp_region_configs", R"({"z": {"zone": "a"}})"}};
  auto before = peer.config;
  Migration run(peer);
  run.options.diff.selection.replace_regions = true;
  auto text =
      R"({"regions":{"aws":{"r1":{"vpc_id":"n","own":"x"}},"gcp":{"z":{"own":"x"}},"oci":{"o":{"c":"d"}},"azure":{"w":{}}}})";
  auto found = run.diff(text);
  EXPECT_EQ(keys(found, Category::change), "cloud1_region_configs");
  EXPECT_EQ(found.would_drop,
            (std::vector<std::string>{"cloud1_region.r1.own", "cloud3_region.z.own", "cloud4_region.o.c"}));
  EXPECT_EQ(found.would_vanish, std::vector<std::string>{"cloud1_region.r2"});
  EXPECT_EQ(found.not_replaced, (std::vector<std::string>{"cloud2", "cloud3", "cloud4"}));
  auto done = run.apply(text);
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_region_configs", R"({"r1": {"vpc_id": "n"}})"}}));
  EXPECT_EQ(peer.config["gcp_region_configs"], before["gcp_region_configs"]);
  ASSERT_FALSE(check_applied(done));
  EXPECT_EQ(check_applied(done).error().code, Code::partial);
  EXPECT_NE(check_applied(done).error().message.find("cloud2, cloud3, cloud4"), std::string::npos);
  auto again = run.apply(text);
  EXPECT_FALSE(again.wrote);
  EXPECT_EQ(check_applied(again).error().code, Code::partial);
}

TEST(Peer, LeavesWhatItMasksUnknownAndSoUnverified) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_secret_access_key", "x"}};
  peer.masked = {"aws_secret_access_key"};
  auto done = Migration(peer).apply(R"({"config":{"cloud1_secret_access_key":"y"}})");
  EXPECT_EQ(done.unverified, std::vector<std::string>{"cloud1_secret_access_key"});
  EXPECT_TRUE(check_applied(done));
}

TEST(Peer, MayAnswerFromACacheForAWhile) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.loses_writes = true;
  peer.config = {{"aws_vpc_id", "old"}};
  Migration run(peer);
  int waits = 0;
  run.options.wait = [&](std::chrono::milliseconds) {
    if (++waits == 3) peer.config["aws_vpc_id"] = "new";
  };
  EXPECT_TRUE(check_applied(run.apply(R"({"config":{"cloud1_vpc_id":"new"}})")));
  EXPECT_EQ(waits, 3);
}

TEST(Import, AlwaysSaysHowRegionSetsAreMeant) {
  FakeDashboard target;
  Migration run(target);
  run.apply(R"({"config":{"a":"1"}})");
  run.options.diff.selection.replace_regions = true;
  run.apply(R"({"regions":{"aws":{"r":{"f":"1"}}}})");
  EXPECT_EQ(target.imports.at(0)["regions"], "merge");
  EXPECT_EQ(target.imports.at(1)["regions"], "replace");
}

}  // namespace
}  // namespace dash::migrate
