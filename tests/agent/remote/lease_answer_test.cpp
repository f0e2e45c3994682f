#include "core/agent/remote/lease_answer.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

using Kind = LeaseAnswer::Kind;

Identity vector_identity() {
  const auto& keys = vectors()["keys"];
  Identity identity;
  identity.agent_id = keys["agent_id"].get<std::string>();
  identity.audience = keys["audience"].get<std::string>();
  identity.dashboard_public_key = keys["dashboard_public"].get<std::string>();
  return identity;
}

net::HttpResponse response_of(const Json& entry) {
  net::HttpResponse response;
  response.status = entry["status"].get<int>();
  response.body =
      entry.contains("answer_text") ? entry["answer_text"].get<std::string>() : dump_json(entry.at("answer"));
  const auto headers = entry.value("headers", Json::object());
  for (const auto& [name, value] : headers.items()) response.headers.add(name, value.get<std::string>());
  return response;
}

LeaseAnswer read(const net::HttpResponse& response) {
  return read_lease_answer(response, vector_identity(), std::chrono::seconds(1),
                           parse_iso("2026-07-03T14:00:00Z").value());
}

// Answers after which a deployed agent ends, or of which it takes what this one does not.
std::optional<Kind> otherwise(const std::string& name) {
  if (name.starts_with("no job_id")) return Kind::failed;
  if (name == "signature with line breaks inside") return Kind::failed;
  if (name == "job is a list, signed" || name == "200 that is a JSON list" || name == "200 that is null")
    return Kind::failed;
  if (name == "over 1 MiB") return Kind::failed;  // the client's bound, not this function's
  return std::nullopt;
}

Kind expected(const std::string& outcome) {
  if (outcome == "no job") return Kind::idle;
  if (outcome == "job") return Kind::job;
  if (outcome == "exit 2") return Kind::revoked;
  if (outcome.starts_with("waits ")) return Kind::throttled;
  return Kind::failed;
}

TEST(LeaseAnswer, IsReadAsDeployedAgentsDo) {
  std::size_t jobs = 0;
  for (const auto& entry : agent_behaviour()["lease_answers"]) {
    auto name = entry["name"].get<std::string>();
    auto outcome = entry["outcome"].get<std::string>();
    auto answer = read(response_of(entry));
    EXPECT_EQ(static_cast<int>(answer.kind), static_cast<int>(otherwise(name).value_or(expected(outcome))))
        << name;
    if (answer.kind == Kind::job) ++jobs;
    if (answer.kind == Kind::throttled) {
      EXPECT_EQ(fmt::format("waits {} s", answer.retry_after.count()), outcome) << name;
    }
  }
  EXPECT_GE(jobs, 8u);
}

TEST(LeaseAnswer, TakesTheTimeThatAJobHasUntil) {
  const auto& entries = agent_behaviour()["lease_answers"];
  auto entry = std::ranges::find_if(entries, [](const Json& one) {
    return one["name"] == "members more in the job, signed: issued_at, expires_at";
  });
  ASSERT_NE(entry, entries.end());
  EXPECT_TRUE(read(response_of(*entry)).job.expires_at);
}

TEST(LeaseAnswer, TellsAClockThatIsOffFromARevokedAgent) {
  net::HttpResponse response;
  response.status = 401;
  EXPECT_NE(read(response).why.find("revoked"), std::string::npos);
  response.headers.add("Date", "Fri, 03 Jul 2026 14:00:30 GMT");
  EXPECT_NE(read(response).why.find("revoked"), std::string::npos);
  net::HttpResponse late;
  late.status = 401;
  late.headers.add("Date", "Fri, 03 Jul 2026 14:02:00 GMT");
  EXPECT_NE(read(late).why.find("120 s behind"), std::string::npos);
}

TEST(PollTimer, DoublesWithEachFailureAndForgetsThem) {
  using std::chrono::milliseconds;
  PollTimer timer(milliseconds(5000), [] { return 0.5; });
  LeaseAnswer failed{.kind = Kind::failed};
  EXPECT_EQ(timer.next({}, milliseconds(0)), milliseconds(5000));
  EXPECT_EQ(timer.next(failed, milliseconds(0)), milliseconds(10'000));
  EXPECT_EQ(timer.next(failed, milliseconds(9000)), milliseconds(20'000));
  for (int i = 0; i < 10; ++i) timer.next(failed, milliseconds(0));
  EXPECT_EQ(timer.next(failed, milliseconds(0)), milliseconds(300'000));
  EXPECT_EQ(timer.next({.kind = Kind::job}, milliseconds(0)), milliseconds(0));
  EXPECT_EQ(timer.next({}, milliseconds(0)), milliseconds(5000));
}

TEST(PollTimer, CountsTheTimeThatTheDashboardHeldTheLease) {
  using std::chrono::milliseconds;
  PollTimer timer(milliseconds(5000), [] { return 0.0; });
  EXPECT_EQ(timer.next({}, milliseconds(1000)), milliseconds(3000));
  EXPECT_EQ(timer.next({}, milliseconds(25'000)), milliseconds(0));
  EXPECT_EQ(timer.next({.kind = Kind::throttled, .retry_after = std::chrono::seconds(7)}, milliseconds(0)),
            milliseconds(7000));
}

}  // namespace
}  // namespace dash::agent
