// What an agent makes of the answer to its lease, and how long it waits before the next one. Deployed dashboards
// and their agents agree on these (docs/compatibility.md). Pure.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/agent/remote/identity.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::agent {

struct LeasedJob {
  std::string id;
  std::string type{};
  Json payload = Json::object();
  std::optional<std::int64_t> expires_at{};  // unix seconds; absent: never
};

struct LeaseAnswer {
  enum class Kind {
    job,        // signed by the dashboard for this agent
    idle,       // nothing to do, or the dashboard is busy for the moment
    throttled,  // wait `retry_after`
    failed,     // unreachable, or an answer that is none: wait twice as long as before
    revoked,    // 401: this agent has no more to do here
  } kind = Kind::idle;
  LeasedJob job{};
  std::chrono::seconds retry_after{0};
  std::string why{};  // of failed and revoked
};

// A job is taken with a signature of the pinned key over the whole of it, this agent's id and the pinned
// audience, and an id that can stand in a path. Everything else is `failed`, and nothing of it is answered.
LeaseAnswer read_lease_answer(const Result<net::HttpResponse>& response, const Identity& identity,
                              std::chrono::seconds poll, Time now);

// How long to wait before the next lease.
class PollTimer {
 public:
  using Random = std::function<double()>;  // [0, 1)
  PollTimer(std::chrono::milliseconds poll, Random random)
      : poll_(poll), wait_(poll), random_(std::move(random)) {}

  // `asked_for` is how long the lease took: a dashboard that held it has waited in the agent's place. A job is
  // followed by the next lease at once.
  std::chrono::milliseconds next(const LeaseAnswer& answer, std::chrono::milliseconds asked_for);

 private:
  const std::chrono::milliseconds poll_;
  std::chrono::milliseconds wait_;  // doubles with each failure
  Random random_;
};

}  // namespace dash::agent
