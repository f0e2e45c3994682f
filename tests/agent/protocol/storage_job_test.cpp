#include "core/agent/protocol/storage_job.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::agent {
namespace {

TEST(StorageJob, CrossesTheWireWhole) {
  StorageJob job{StorageOp::upload, "lab", "a/b", "site.yml", "bytes\0more"};
  auto read = must(read_storage_job(to_json(job)));
  EXPECT_EQ(to_json(read), to_json(job));
  StorageJob range{StorageOp::fetch, "lab", "", "site.yml", "", 5, 10, {}};
  EXPECT_EQ(must(read_storage_job(to_json(range))).length, 10u);
}

TEST(StorageJob, HasNoMemberForAPath) {
  Json payload{{"op", "list"}, {"share", "lab"}, {"subpath", ""}, {"path", "/etc"}};
  EXPECT_NE(read_storage_job(payload).error().message.find("'path'"), std::string::npos);
}

TEST(StorageJob, RefusesSubpathsThatLeaveTheShare) {
  for (const auto* path : {"/etc", "..", "a/../b", "a//b", ".hidden", "a/.b", "\\etc", "a/b c", "-a"})
    EXPECT_FALSE(clean_subpath(path)) << path;
  EXPECT_EQ(must(clean_subpath("a\\b/")), "a/b");
  EXPECT_EQ(must(clean_subpath("")), "");
  EXPECT_FALSE(clean_subpath(std::string(129, 'a')));
}

TEST(StorageJob, RefusesNamesThatAreNoBareFiles) {
  for (const auto* name : {"", ".env", "a/b.yml", "a\\b.yml", "-x.yml", "a b.yml", "ü.yml"})
    EXPECT_FALSE(check_job_file_name(name)) << name;
  EXPECT_TRUE(check_job_file_name("site-1_a.yml"));
  EXPECT_FALSE(check_share("a.b"));
  EXPECT_FALSE(check_share(""));
  EXPECT_TRUE(check_share("lab_1-x"));
}

TEST(StorageJob, RefusesContentBeyondTheEnvelope) {
  StorageJob job{StorageOp::upload, "lab", "", "a.yml", std::string(kMaxContentBytes + 1, 'x')};
  EXPECT_FALSE(read_storage_job(to_json(job)));
  job.content.pop_back();
  EXPECT_TRUE(read_storage_job(to_json(job)));
}

}  // namespace
}  // namespace dash::agent
