#include "core/deploy/state_server.hpp"

#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/deploy/state_fixture.hpp"

namespace dash::deploy {
namespace {

TEST(ManagedResources, AreThoseThatTheStateMade) {
  EXPECT_EQ(managed_resources(state_text(1, R"([{"mode":"data","type":"d","name":"x","instances":[{}]},
    {"mode":"managed","type":"t","name":"x","instances":[{"index_key":0},{"index_key":1}]},
    {"module":"module.m","mode":"data","type":"d","name":"x","instances":[{}]}])")),
            (std::vector<std::string>{"t.x[0]", "t.x[1]"}));
  EXPECT_TRUE(managed_resources("nonsense").empty());
}

class StateServing : public DeployState {
 protected:
  std::string variable(const std::string& name) {
    for (const auto& entry : server_->environment())
      if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    return "";
  }
  int call(const std::string& method, const std::string& query, const std::string& body,
           const std::string& password = "") {
    net::HttpRequest request;
    request.method = method;
    request.url = variable("TF_HTTP_ADDRESS") + query;
    request.body = body;
    auto given = password.empty() ? variable("TF_HTTP_PASSWORD") : password;
    request.headers.add("Authorization",
                        "Basic " + crypto::to_base64(variable("TF_HTTP_USERNAME") + ":" + given));
    auto response = must(http_->send(request));
    body_ = response.body;
    return response.status;
  }
  std::unique_ptr<storage::LockedState> state_ = open();
  std::unique_ptr<StateServer> server_ = must(StateServer::start(*state_, records_, "j1"));
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  std::string body_;
};

TEST_F(StateServing, KeepsTheStateUnderTheStoresOwnLock) {
  EXPECT_EQ(call("GET", "", ""), 404);
  EXPECT_EQ(call("LOCK", "", lock_info("id-1")), 200);
  EXPECT_EQ(call("LOCK", "", lock_info("id-1")), 200) << "sent again after a lost answer";
  EXPECT_TRUE(must(store_->head(kKey + ".tflock")).size > 0);
  EXPECT_EQ(must(records_.find("j1"))->lock_id, "id-1");
  EXPECT_EQ(call("POST", "?ID=id-1", state_text(1)), 200);
  EXPECT_EQ(must(records_.find("j1"))->resources, 1);
  EXPECT_EQ(call("GET", "", ""), 200);
  EXPECT_EQ(body_, state_text(1));
  EXPECT_EQ(call("UNLOCK", "", lock_info("other")), 409);
  EXPECT_EQ(call("UNLOCK", "", lock_info("id-1")), 200);
  EXPECT_FALSE(store_->head(kKey + ".tflock"));
  EXPECT_EQ(must(records_.find("j1"))->lock_id, "");
}

TEST_F(StateServing, WritesNothingWithoutTheLock) {
  EXPECT_EQ(call("POST", "", state_text(1)), 409);
  EXPECT_EQ(call("POST", "?ID=", state_text(1)), 409);
  EXPECT_EQ(call("LOCK", "", lock_info("id-1")), 200);
  EXPECT_EQ(call("POST", "?ID=id-2", state_text(1)), 409);
  EXPECT_EQ(call("POST", "?ID=id-1", "nonsense"), 400);
  must(store_->remove(kKey + ".tflock"));
  EXPECT_EQ(call("POST", "?ID=id-1", state_text(1)), 409) << "somebody ended the lock";
  EXPECT_FALSE(store_->head(kKey));
}

TEST_F(StateServing, NamesWhoHoldsTheLock) {
  ASSERT_FALSE(must(open()->lock(lock_info("foreign"))));
  EXPECT_EQ(call("LOCK", "", lock_info("id-1")), 423);
  EXPECT_NE(body_.find(R"("Who":"ann@host")"), std::string::npos) << body_;
  EXPECT_EQ(holder_text(*server_->foreign_lock()),
            "ann@host (apply, since 2026-01-01T00:00:00Z, lock foreign)");
}

TEST_F(StateServing, AnswersOnlyItsOwnProgram) { EXPECT_EQ(call("GET", "", "", "guess"), 401); }

}  // namespace
}  // namespace dash::deploy
