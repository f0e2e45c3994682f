// The share's password, which one job of one agent gets once.
#include "core/agent/protocol/sealed_reply.hpp"
#include "tests/contract/agents_suite.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class ShareSecret : public AgentsContract {
 protected:
  ShareSecret() {
    a_.secrets.add(kStorageJobType, share_secret_source(a_.deps));
    a_.set("storage_agent_id", agent_.id);
    a_.set("storage_agent_share", "docs");
    a_.set("storage_agent_password", "hunter2");
  }
  std::string running(const std::string& share = "docs") {
    auto id = a_.submit(agent_.id, share);
    lease(agent_);
    return id;
  }
  Result<OrderedJson> ask(const std::string& id, const std::string& ref = "docs") {
    return a_.secrets.release(a_.row(agent_.id), id, {ref, crypto::to_base64(reply_.public_key)});
  }
  Code refusal(const std::string& id, const std::string& ref = "docs") {
    auto answer = ask(id, ref);
    return answer ? Code::differences : answer.error().code;
  }
  EnrolledAgent agent_ = a_.enrolled("dc1");
  crypto::X25519Key reply_ = crypto::new_x25519_key();
};

TEST_P(ShareSecret, IsSealedToTheReplyKeyAndReleasedOnceAJob) {
  auto id = running();
  auto sealed = must(ask(id))["sealed"];
  SealBinding binding{agent_.id, agent_.audience, id, "docs"};
  EXPECT_EQ(must(open_reply(Json(sealed), reply_, binding)).expose(), "hunter2");
  EXPECT_EQ(refusal(id), Code::conflict);
  auto trail = a_.audited();
  EXPECT_EQ(std::ranges::count(trail, "agent:dc1 agent.share_secret"), 2);
  EXPECT_EQ(a_.count("audit_log WHERE details LIKE '%hunter2%'"), 0);
  EXPECT_EQ(a_.count("audit_log WHERE details LIKE '%released before%'"), 1);
  EXPECT_NE(refusal(running()), Code::conflict);
}

TEST_P(ShareSecret, IsReleasedOnlyWhileItsJobRuns) {
  auto queued = a_.submit(agent_.id);
  EXPECT_EQ(refusal(queued), Code::conflict);
  lease(agent_);
  must(a_.jobs.cancel(queued));
  EXPECT_EQ(refusal(queued), Code::conflict);
  auto other = a_.enrolled("dc2");
  auto id = running();
  EXPECT_EQ(
      a_.secrets.release(a_.row(other.id), id, {"docs", crypto::to_base64(reply_.public_key)}).error().code,
      Code::conflict);
  must(a_.jobs.complete(a_.row(agent_.id), id, completed()));
  EXPECT_EQ(refusal(id), Code::conflict);
}

TEST_P(ShareSecret, IsForTheConfiguredShareAndAgentAlone) {
  EXPECT_EQ(refusal(running("other"), "other"), Code::conflict);
  auto id = running();
  EXPECT_EQ(refusal(id, "other"), Code::conflict);
  a_.set("storage_agent_id", "somebody");
  EXPECT_EQ(refusal(id), Code::conflict);
  a_.set("storage_agent_id", agent_.id);
  a_.set("storage_agent_password", "");
  EXPECT_EQ(refusal(id), Code::conflict);
  a_.set("storage_agent_password", "hunter2");
  EXPECT_TRUE(ask(id));  // no refusal spent it
}

TEST_P(ShareSecret, IsNeverReleasedToAnAgentThatIsNotAttestedWhereThatIsDemanded) {
  a_.set("dashboard_secrets_require_attested", "true");
  EXPECT_EQ(refusal(running()), Code::forbidden);
}

TEST_P(ShareSecret, ABadReplyKeyIsRefusedBeforeThePasswordIsRead) {
  auto id = running();
  a_.set("storage_agent_password", "");
  auto row = a_.row(agent_.id);
  for (auto key : {std::string("short"), crypto::to_base64(std::string(31, 'x'))})
    EXPECT_EQ(a_.secrets.release(row, id, {"docs", key}).error().code, Code::invalid);
  a_.set("storage_agent_password", "hunter2");
  EXPECT_EQ(a_.secrets.release(row, id, {"docs", crypto::to_base64(std::string(32, '\0'))}).error().code,
            Code::invalid);
}

INSTANTIATE_TEST_SUITE_P(Engines, ShareSecret, each_database(), engine_name);

}  // namespace
}  // namespace dash::agent
