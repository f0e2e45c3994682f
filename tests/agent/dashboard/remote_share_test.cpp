#include "core/agent/dashboard/remote_share.hpp"

#include <gtest/gtest.h>

#include <future>

#include "core/storage/store/agent/store.hpp"
#include "tests/support/agent_world.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::agent {
namespace {

struct RemoteShareTest : testing::Test {
  AgentWorld world;
  AgentReplica here{world}, there{world};
  SharedFolder folder, old_folder{true};

  std::unique_ptr<ScriptedAgent> start(SharedFolder& of, const Agent& agent) {
    return std::make_unique<ScriptedAgent>(here.jobs, agent,
                                           [&of](const Json& job) { return of.answer(job.at("payload")); });
  }
  std::unique_ptr<ScriptedAgent> start() { return start(folder, world.add_agent("a1")); }
  std::unique_ptr<ScriptedAgent> start_deployed() {
    return start(old_folder, world.add_agent("old", {std::string(kStorageJobType)}, "2.5.0", "[]"));
  }
  static std::vector<std::string> names(const std::vector<storage::agent::ShareFile>& files) {
    std::vector<std::string> out;
    for (const auto& file : files) out.push_back(file.name);
    return out;
  }
  using Names = std::vector<std::string>;
};

TEST_F(RemoteShareTest, KeepsListsReadsAndRemovesFiles) {
  auto agent = start();
  auto share = here.share("a1");
  auto stored = must(share.write("b.yml", "hello"));
  EXPECT_EQ(stored.size, 5u);
  must(share.write("a.yml", ""));
  auto files = must(share.list());
  EXPECT_EQ(names(files), (Names{"a.yml", "b.yml"}));
  EXPECT_EQ(files[1].etag, stored.etag);
  auto head = must(share.head("b.yml"));
  EXPECT_EQ(head.size, 5u);
  EXPECT_EQ(head.etag, stored.etag);
  EXPECT_EQ(must(share.read("b.yml", 1, 3)).bytes, "ell");
  EXPECT_EQ(must(share.read("a.yml", 0, 10)).bytes, "");
  must(share.remove("b.yml"));
  EXPECT_EQ(share.remove("b.yml").error().code, Code::not_found);
  EXPECT_EQ(share.head("b.yml").error().code, Code::not_found);
  EXPECT_EQ(names(must(share.list())), Names{"a.yml"});
}

TEST_F(RemoteShareTest, ReadsTheLargestFileInRanges) {
  auto agent = start();
  std::string most(kMaxContentBytes, 'x');
  most.back() = 'y';
  auto store = storage::agent::make_agent_store({"a1", "lab", "web", false},
                                                std::make_unique<RemoteShare>(here.share("a1")));
  must(store->put("most.deb", most, {}));
  std::string out(most.size() + 10, '\0');
  EXPECT_EQ(must(store->read("most.deb", 0, "", out)), most.size());
  out.resize(most.size());
  EXPECT_TRUE(out == most);
  EXPECT_EQ(folder.count("fetch"), 2);
  auto jobs = world.jobs_made();
  EXPECT_EQ(here.share("a1").write("more.deb", most + "x").error().code, Code::too_large);
  EXPECT_EQ(world.jobs_made(), jobs);
}

TEST_F(RemoteShareTest, ListsAHundredThousandFilesByPages) {
  folder.page_files = 2000;
  for (int i = 0; i < 100'000; ++i) folder.put(fmt::format("f{:06}.yml", i), "");
  auto agent = start();
  auto files = must(here.share("a1").list());
  ASSERT_EQ(files.size(), 100'000u);
  EXPECT_EQ(files.front().name, "f000000.yml");
  EXPECT_EQ(files.back().name, "f099999.yml");
  EXPECT_EQ(folder.count("list"), 50);
  EXPECT_EQ(must(there.share("a1").list()).size(), 100'000u);
  EXPECT_EQ(folder.count("list"), 50);
}

TEST_F(RemoteShareTest, KeepsListingsUntilAChangeOnAnyReplica) {
  auto agent = start();
  folder.put("a.yml", "1");
  EXPECT_EQ(names(must(here.share("a1").list())), Names{"a.yml"});
  folder.put("placed.yml", "by another program");
  EXPECT_EQ(names(must(there.share("a1").list())), Names{"a.yml"});
  must(here.share("a1").forget_listing());
  EXPECT_EQ(names(must(there.share("a1").list())), (Names{"a.yml", "placed.yml"}));
  must(there.share("a1").write("c.yml", "3"));
  EXPECT_EQ(names(must(here.share("a1").list())), (Names{"a.yml", "c.yml", "placed.yml"}));
  must(here.share("a1").remove("a.yml"));
  EXPECT_EQ(names(must(there.share("a1").list())), (Names{"c.yml", "placed.yml"}));
  EXPECT_EQ(folder.count("list"), 4);
}

TEST_F(RemoteShareTest, KeepsNoErrors) {
  folder.failure = std::string(kPolicyRefusal) + "the share 'lab' is not named";
  auto row = world.add_agent("a1");
  {
    auto agent = start(folder, row);
    auto refused = here.share("a1").list();
    EXPECT_EQ(refused.error().code, Code::upstream);
    EXPECT_NE(refused.error().message.find("Agent policy refused: the share 'lab' is not named"),
              std::string::npos);
  }
  folder.failure.reset();
  auto agent = start(folder, row);
  EXPECT_TRUE(here.share("a1").list());
}

TEST_F(RemoteShareTest, PassesOnWhatTheAgentRefusesToWrite) {
  folder.failure = std::string(kPolicyRefusal) + "the share 'lab' is read-only";
  auto agent = start();
  for (auto error :
       {here.share("a1").write("a.yml", "x").error(), here.share("a1").remove("a.yml").error()}) {
    EXPECT_EQ(error.code, Code::upstream);
    EXPECT_NE(error.message.find("read-only"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("a1"), std::string::npos);
  }
}

TEST_F(RemoteShareTest, MakesNoJobForAnAgentThatMayNot) {
  auto id = world.add_agent("a1").id;
  world.clock.advance(std::chrono::minutes(2));
  auto share = here.share("a1");
  for (auto code : {share.list().error().code, share.head("a.yml").error().code,
                    share.write("a.yml", "x").error().code, share.remove("a.yml").error().code})
    EXPECT_EQ(code, Code::upstream);
  world.change(id, "last_seen_at", to_micros(world.clock.now()));
  world.change(id, "agent_version", std::string("2.6.0"));
  auto refused = here.share("a1", true).list();
  EXPECT_NE(refused.error().message.find("2.7"), std::string::npos);
  EXPECT_EQ(world.jobs_made(), 0);
}

TEST_F(RemoteShareTest, CancelsAJobThatNobodyFetchedInTime) {
  world.add_agent("a1");
  auto listing = std::async(std::launch::async, [&] { return here.share("a1").list(); });
  ASSERT_TRUE(wait_until([&] { return world.jobs_made() == 1; }));
  world.clock.advance(std::chrono::seconds(91));
  auto refused = listing.get();
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("did not fetch the job in time"), std::string::npos)
      << refused.error().message;
  auto queued = must(db::read<db::Rows>(
      *world.sql, [](db::Transaction& tx) { return tx.query("SELECT state FROM agent_jobs"); }));
  EXPECT_EQ(queued.at(0).text(0), "cancelled");
}

// The upload is given up, a listing is kept, and only then does the agent write the file.
TEST_F(RemoteShareTest, DropsTheListingWhenAnUploadEndsAfterItsTime) {
  auto row = world.add_agent("a1");
  auto upload = std::async(std::launch::async, [&] { return here.share("a1").write("late.yml", "x"); });
  LeaseReply leased;
  ASSERT_TRUE(wait_until([&] {
    leased = must(there.jobs.lease(row));
    return !leased.job.is_null();
  }));
  world.clock.advance(std::chrono::seconds(91));
  auto given_up = upload.get();
  EXPECT_NE(given_up.error().message.find("may still"), std::string::npos) << given_up.error().message;
  world.change(row.id, "last_seen_at", to_micros(world.clock.now()));
  auto agent = start(folder, row);
  EXPECT_EQ(names(must(here.share("a1").list())), Names{});
  auto done = folder.answer(leased.job.at("payload"));
  must(there.jobs.complete(row, leased.job.at("job_id"), done));
  EXPECT_EQ(names(must(here.share("a1").list())), Names{"late.yml"});
}

// Callers at the same time ask the agent once.
TEST_F(RemoteShareTest, MakesOneListingForAllWhoWaitForIt) {
  auto row = world.add_agent("a1");
  std::vector<std::future<Result<std::vector<storage::agent::ShareFile>>>> callers;
  for (int i = 0; i < 8; ++i)
    callers.push_back(std::async(std::launch::async, [&] { return here.share("a1").list(); }));
  ASSERT_TRUE(wait_until([&] { return world.jobs_made() >= 1; }));
  auto agent = start(folder, row);
  for (auto& caller : callers) EXPECT_TRUE(caller.get());
  EXPECT_EQ(folder.count("list"), 1);
}

TEST_F(RemoteShareTest, MakesNoJobForTheCallerTooMany) {
  world.add_agent("a1");
  ShareCallers none(0);
  RemoteShare share({here.jobs, here.listings, here.under_way, none}, {"a1", "lab", "web", false});
  EXPECT_EQ(share.list().error().code, Code::busy);
  EXPECT_EQ(share.write("a.yml", "x").error().code, Code::busy);
  EXPECT_EQ(world.jobs_made(), 0);
}

TEST_F(RemoteShareTest, WorksWithAnAgentWithoutRangesAndPages) {
  auto agent = start_deployed();
  auto share = here.share("old");
  auto stored = must(share.write("a.yml", "hello"));
  EXPECT_EQ(must(share.head("a.yml")).etag, stored.etag);
  EXPECT_EQ(must(share.read("a.yml", 1, 3)).bytes, "ell");
  EXPECT_EQ(must(share.list()).front().etag, "");
  EXPECT_EQ(share.head("no.yml").error().code, Code::not_found);
  must(share.remove("a.yml"));
  EXPECT_FALSE(old_folder.has("a.yml"));
}

// What such an agent sends whole is less than what it takes.
TEST_F(RemoteShareTest, NamesTheLimitsOfAnAgentWithoutRangesAndPages) {
  old_folder.put("large.deb", std::string(kMaxContentBytes, 'x'));
  auto agent = start_deployed();
  auto share = here.share("old");
  auto refused = share.read("large.deb", 0, 10);
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_NE(refused.error().message.find("196566"), std::string::npos) << refused.error().message;
  old_folder.put("large.deb", std::string(kMaxReadBytes, 'x'));
  EXPECT_EQ(must(share.read("large.deb", 0, 10)).bytes.size(), 10u);
  for (int i = 0; i < 8'000; ++i) old_folder.put(fmt::format("file-with-a-long-name-{:06}.yml", i), "");
  must(share.forget_listing());
  auto too_many = share.list();
  EXPECT_EQ(too_many.error().code, Code::upstream);
  EXPECT_NE(too_many.error().message.find("262144"), std::string::npos) << too_many.error().message;
}

TEST_F(RemoteShareTest, RefusesAnswersThatAreNone) {
  ScriptedAgent agent(here.jobs, world.add_agent("a1"), [](const Json& job) {
    if (job.at("payload").at("op") == "list") return completed({{"assets", "none"}});
    return completed(
        {{"content_b64", crypto::to_base64(std::string(4096, 'x'))}, {"size", 4096}, {"etag", "e"}});
  });
  EXPECT_EQ(here.share("a1").list().error().code, Code::upstream);
  EXPECT_EQ(here.share("a1").read("a.yml", 0, 16).error().code, Code::upstream);  // more than was asked for
}

// A cursor that leads nowhere.
TEST_F(RemoteShareTest, EndsAListingWithoutEnd) {
  ScriptedAgent agent(here.jobs, world.add_agent("a1"), [](const Json&) {
    return completed(to_json(ListJobResult{{}, "again"}));
  });
  auto endless = here.share("a1").list();
  EXPECT_EQ(endless.error().code, Code::upstream);
  EXPECT_NE(endless.error().message.find("without an end"), std::string::npos);
}

}  // namespace
}  // namespace dash::agent
