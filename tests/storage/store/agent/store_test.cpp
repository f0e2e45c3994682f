#include "core/storage/store/agent/store.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/backends.hpp"
#include "tests/support/memory_share.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::agent {
namespace {

struct AgentStoreTest : testing::Test {
  std::shared_ptr<MemoryShareState> share = std::make_shared<MemoryShareState>();
  std::unique_ptr<ObjectStore> store =
      make_agent_store({"a1", "lab", "web", false}, std::make_unique<MemoryShare>(share));

  std::string whole(const std::string& name) {
    std::string out(kMaxAgentBytes, '\0');
    out.resize(must(store->read(name, 0, "", out)));
    return out;
  }
};

TEST_F(AgentStoreTest, ReadsTheShareFromTheSettings) {
  auto settings = read_share_settings({{"storage_agent_id", " a1 "},
                                       {"storage_agent_share", "lab"},
                                       {"storage_agent_subpath", "x/y"},
                                       {"storage_agent_password", "s3cret"}});
  EXPECT_EQ(settings.agent, "a1");
  EXPECT_EQ(settings.share, "lab");
  EXPECT_EQ(settings.subpath, "x/y");
  EXPECT_TRUE(settings.has_password);
  EXPECT_FALSE(read_share_settings({{"storage_agent_password", ""}}).has_password);
}

TEST_F(AgentStoreTest, KeepsFilesUpToTheCeiling) {
  std::string most(kMaxAgentBytes, 'x');
  EXPECT_EQ(must(store->put("most.deb", most, {})).size, most.size());
  EXPECT_EQ(whole("most.deb"), most);
  auto refused = store->put("more.deb", most + "x", {});
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_NE(refused.error().message.find("196608"), std::string::npos);
  EXPECT_NE(refused.error().message.find("cloud backend"), std::string::npos);
  EXPECT_FALSE(share->files.contains("more.deb"));
}

TEST_F(AgentStoreTest, ReadsAFileInPiecesOfOneVersion) {
  share->range_bytes = 10;
  share->files["a.yml"] = "0123456789abcdefghij-";
  EXPECT_EQ(whole("a.yml"), "0123456789abcdefghij-");
  std::string out(4, '\0');
  EXPECT_EQ(must(store->read("a.yml", 8, "", out)), 4u);
  EXPECT_EQ(out, "89ab");
  auto etag = must(store->head("a.yml")).etag;
  share->files["a.yml"] = "replaced";
  EXPECT_EQ(store->read("a.yml", 0, etag, out).error().code, Code::precondition);
}

TEST_F(AgentStoreTest, NoticesAFileThatIsReplacedBetweenTwoPieces) {
  share->range_bytes = 4;
  share->files["a.yml"] = "11112222";
  std::string out(8, '\0');
  // The first piece has come when the sink replaces the file.
  class Replacer final : public RandomWriter {
   public:
    explicit Replacer(MemoryShareState& state) : state_(state) {}
    Result<void> write(std::uint64_t, std::string_view) override {
      state_.files["a.yml"] = "33334444";
      return {};
    }

   private:
    MemoryShareState& state_;
  } replacer(*share);
  EXPECT_EQ(store->read("a.yml", {0, 8}, "", replacer).error().code, Code::precondition);
}

TEST_F(AgentStoreTest, OpensWithItsFirstBytes) {
  share->files["a.yml"] = "0123456789";
  std::string out(4, '\0');
  auto opened = must(store->open("a.yml", out));
  EXPECT_EQ(out, "0123");
  EXPECT_EQ(opened.size, 4u);
  EXPECT_EQ(opened.object.size, 10u);
  EXPECT_EQ(opened.object.etag, must(store->head("a.yml")).etag);
}

TEST_F(AgentStoreTest, CreatesOnlyWhatIsAbsentWhenAskedTo) {
  must(store->put("a.yml", "one", {.digest = "", .only_if_absent = true}));
  auto taken = store->put("a.yml", "two", {.digest = "", .only_if_absent = true});
  EXPECT_EQ(taken.error().code, Code::conflict);
  EXPECT_EQ(share->files["a.yml"], "one");
  // Whether it is absent cannot be seen: nothing is written.
  share->failure = make_error(Code::upstream, "the agent is offline");
  EXPECT_EQ(store->put("b.yml", "x", {.digest = "", .only_if_absent = true}).error().code, Code::upstream);
  EXPECT_EQ(share->calls["write"], 1);
}

TEST_F(AgentStoreTest, ListsByPrefixFromTheCursor) {
  for (const auto* name : {"a.yml", "b1.yml", "b2.yml", "c.sh"}) share->files[name] = "x";
  auto page = must(store->list("b", ""));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "b1.yml");
  EXPECT_EQ(page.cursor, "");
  EXPECT_EQ(must(store->list("", "b1.yml")).objects.size(), 2u);
}

TEST_F(AgentStoreTest, CarriesNoPathToTheAgent) {
  std::string out(1, '\0');
  for (std::string name :
       {"../x.yml", "a/b.yml", "a\\b.yml", ".env", "-x.yml", "a b.yml", "x\n.yml", "", "ü.yml"}) {
    EXPECT_EQ(store->head(name).error().code, Code::invalid) << name;
    EXPECT_EQ(store->read(name, 0, "", out).error().code, Code::invalid) << name;
    EXPECT_EQ(store->put(name, "x", {}).error().code, Code::invalid) << name;
    EXPECT_EQ(store->remove(name).error().code, Code::invalid) << name;
    EXPECT_EQ(store->begin(name, 1).error().code, Code::invalid) << name;
  }
  EXPECT_TRUE(share->calls.empty());
}

TEST_F(AgentStoreTest, TakesNoPartsAndSaysSo) {
  EXPECT_FALSE(store->capabilities().takes_parts);
  EXPECT_EQ(store->capabilities().max_bytes, kMaxAgentBytes);
  auto refused = store->begin("a.deb", std::nullopt);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_NE(refused.error().message.find("agent:a1/lab/web"), std::string::npos);
  EXPECT_EQ(store->begin("a.deb", kMaxAgentBytes + 1).error().code, Code::too_large);
  EXPECT_EQ(store->put_part("u", 1, "x", true).error().code, Code::unsupported);
  EXPECT_EQ(store->commit("u", {}, {}).error().code, Code::unsupported);
}

TEST_F(AgentStoreTest, NamesTheAgentInAProcessWithoutAQueue) {
  auto without = must(open_agent_share({{"storage_agent_id", "a1"}, {"storage_agent_share", "lab"}}));
  EXPECT_EQ(without->place(), "agent:a1/lab/");
  auto refused = without->list("", "");
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("'a1'"), std::string::npos);
  EXPECT_EQ(without->put("a.yml", "x", {}).error().code, Code::upstream);
}

TEST_F(AgentStoreTest, ForgetsTheListingOfTheShare) {
  must(store->forget_listing());
  EXPECT_EQ(share->calls["forget"], 1);
}

}  // namespace
}  // namespace dash::storage::agent
