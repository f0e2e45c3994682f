// What the suites of the dashboard's agents share: its side of them over each database. They check it by theme:
// agent_identities_test.cpp, agent_requests_test.cpp, agent_queue_test.cpp, agent_waits_test.cpp and
// share_secret_test.cpp.
#pragma once
#include "tests/contract/databases.hpp"
#include "tests/support/agents.hpp"

namespace dash::agent {

class AgentsContract : public testing::TestWithParam<std::string_view> {
 protected:
  Code code_of(const Result<EnrolReply>& result) { return result ? Code::differences : result.error().code; }
  Result<EnrolReply> enrol(const Secret& code, const std::string& address = "198.51.100.7") {
    auto key = crypto::ed25519_from_seed(Secret(std::string(32, 'a')));
    return a_.enrolment.enrol(AgentsUnderTest::enrol_request(code, key), address, "https://dash.example");
  }
  LeaseReply lease(const EnrolledAgent& agent) { return must(a_.jobs.lease(a_.row(agent.id))); }
  static Completion completed(Json result = Json::object()) { return {true, std::move(result), ""}; }

  Scratch scratch_;
  AgentsUnderTest a_{contract_database(GetParam(), scratch_)};
};

inline auto each_database() { return testing::Values("sqlite", "postgres"); }
inline std::string engine_name(const testing::TestParamInfo<std::string_view>& engine) {
  return std::string(engine.param);
}

}  // namespace dash::agent
