#include "core/agent/remote/dashboard_client.hpp"

#include <gtest/gtest.h>

#include "core/agent/protocol/request_signature.hpp"
#include "core/agent/protocol/sealed_reply.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/fake_clock.hpp"

namespace dash::agent {
namespace {

class AgentsClient : public ::testing::Test {
 protected:
  static bool is_signed(const AgentHttp::Sent& sent, const std::string& path) {
    auto header = [&](std::string_view name) { return sent.headers.get(name).value_or(""); };
    RequestToSign signed_request{test_identity().audience, header(kAgentIdHeader),  "POST", path,
                                 header(kNonceHeader),     header(kTimestampHeader)};
    return is_signed_by(crypto::to_base64(test_identity().key.public_key), signed_request,
                        crypto::to_hex(crypto::sha256(sent.body)), header(kSignatureHeader));
  }
  AgentHttp http_;
  FakeClock clock_;
  const Identity identity_ = test_identity();
  DashboardClient client_{http_, clock_, identity_, {"https://dash.example/base", {}}};
};

TEST_F(AgentsClient, SignsThePathWithoutTheBaseOfItsAddress) {
  http_.answer("lease", 200);
  must(client_.lease({"2.7.0", std::vector<std::string>{"agent_storage"}, 25, {"pages"}}));
  EXPECT_EQ(http_.sent.at(0).url, "https://dash.example/base/api/agent/lease");
  EXPECT_TRUE(is_signed(http_.sent[0], "/api/agent/lease"));
  EXPECT_EQ(http_.sent[0].body,
            R"({"agent_version":"2.7.0","features":["pages"],"job_types":["agent_storage"],"wait_s":25})");
  EXPECT_TRUE(http_.sent[0].headers.get("User-Agent")->starts_with("dashctl/"));
}

TEST_F(AgentsClient, GivesEachRequestANonceOfItsOwn) {
  http_.answer("complete", 200);
  http_.answer("complete", 200);
  Completion done{true, Json::object(), ""};
  must(client_.complete("j-1", done));
  must(client_.complete("j-1", done));
  EXPECT_EQ(http_.sent[0].body, http_.sent[1].body);
  EXPECT_NE(http_.sent[0].headers.get(kNonceHeader), http_.sent[1].headers.get(kNonceHeader));
  EXPECT_TRUE(is_signed(http_.sent[1], "/api/agent/jobs/j-1/complete"));
}

TEST_F(AgentsClient, OpensASecretThatIsSealedToItsReplyKeyAlone) {
  struct Sealing final : net::HttpClient {
    Result<net::HttpResponse> send(const net::HttpRequest& request) override {
      std::string body(request.body_source_size, '\0');
      must(read_full(*request.body_source, body));
      auto asked = must(read_secret_request(must(parse_json(body))));
      auto key = must(read_reply_key(asked.reply_key));
      auto identity = test_identity();
      auto sealed = must(seal_reply(Secret("pw-of-the-share"), key,
                                    {identity.agent_id, identity.audience, "j-1", sealed_for}));
      return net::HttpResponse{200, {}, dump_json(OrderedJson{{"sealed", sealed}}), 0};
    }
    std::string sealed_for = "lab";
  } http;
  DashboardClient client(http, clock_, identity_, {"https://dash.example", {}});
  EXPECT_EQ(must(client.secret("j-1", "lab")).expose(), "pw-of-the-share");
  http.sealed_for = "other";
  EXPECT_EQ(client.secret("j-1", "lab").error().code, Code::integrity);
}

TEST_F(AgentsClient, PassesOnWhyNoSecretIsReleased) {
  http_.answer("secret", 403, R"({"detail":"only attested agents"})");
  auto error = client_.secret("j-1", "lab").error();
  EXPECT_EQ(error.code, Code::forbidden);
  EXPECT_NE(error.message.find("only attested agents"), std::string::npos);
}

TEST(DashboardUrl, IsHttpsOrThisMachine) {
  for (const auto* good : {"https://dash.example", "https://dash.example:8443/base/", "http://127.0.0.1:8080",
                           "http://[::1]:8080", "http://localhost"})
    EXPECT_TRUE(check_dashboard_url(good)) << good;
  for (const auto* bad : {"http://dash.example", "http://10.0.0.1", "http://localhost.evil.example",
                          "http://0.0.0.0", "ftp://x", "dash.example", "https://", "https://user:pw@host",
                          "http://127.0.0.1@evil.example", "https://h/?q=1"})
    EXPECT_EQ(check_dashboard_url(bad).error().code, Code::usage) << bad;
  EXPECT_EQ(must(check_dashboard_url(" https://dash.example/base// ")), "https://dash.example/base");
}

TEST(Enrolling, KeepsWhatTheDashboardAnswered) {
  AgentHttp http;
  auto key = test_identity().dashboard_public_key;
  http.answer("enroll", 200,
              dump_json(OrderedJson{
                  {"agent_id", "a-9"}, {"audience", "https://aud"}, {"dashboard_public_key", key}}));
  auto identity = must(enrol(http, {"https://dash.example", {}}, Secret("agte_1"), "hash"));
  EXPECT_EQ(identity.agent_id, "a-9");
  EXPECT_EQ(identity.url, "https://dash.example");
  auto body = must(parse_json(http.sent.at(0).body));
  EXPECT_EQ(body["public_key"], crypto::to_base64(identity.key.public_key));
  EXPECT_EQ(body["policy_hash"], "hash");
  EXPECT_FALSE(http.sent[0].headers.get(kSignatureHeader));
}

TEST(Enrolling, SaysWhetherTheCodeIsSpent) {
  AgentHttp http;
  http.answer("enroll", 400, R"({"detail":"expired"})");
  http.answer("enroll", 429);
  http.fail_with("enroll", Code::timeout);
  http.answer("enroll", 200, R"({"agent_id":"a","audience":"x","dashboard_public_key":"short"})");
  auto error = [&] { return enrol(http, {"https://dash.example", {}}, Secret("c"), "").error(); };
  EXPECT_NE(error().message.find("expired"), std::string::npos);
  EXPECT_EQ(error().code, Code::busy);
  EXPECT_NE(error().message.find("spent"), std::string::npos);
  EXPECT_EQ(error().code, Code::integrity);
}

}  // namespace
}  // namespace dash::agent
