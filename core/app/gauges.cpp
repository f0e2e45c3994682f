#include "core/app/gauges.hpp"

#include <algorithm>

#include "core/base/published_samples.hpp"
#include "core/config/settings.hpp"
#include "core/db/schema.hpp"

namespace dash::app {
namespace {

// An agent asks for work at least every half minute.
constexpr std::chrono::seconds kOnline{90};

// Waiting jobs by kind, and how long the oldest could have run.
Result<void> read_jobs(db::Transaction& tx, Time now, metrics::Samples& out) {
  auto waiting = TRY(tx.query(R"(SELECT action, state, COUNT(*) FROM jobs
      WHERE state IN ('pending', 'scheduled', 'awaiting_approval', 'running') GROUP BY action, state)"));
  for (const auto& row : waiting)
    out.push_back({&metrics::kQueuedJobs, {row.text(0), row.text(1)}, static_cast<double>(row.integer(2))});
  auto oldest = TRY(tx.query(R"(SELECT action, MIN(COALESCE(run_at, created_at)) FROM jobs
      WHERE state = 'pending' AND COALESCE(run_at, created_at) <= $1 GROUP BY action)",
                             {to_micros(now)}));
  for (const auto& row : oldest)
    out.push_back(
        {&metrics::kOldestJob, {row.text(0)}, static_cast<double>(to_micros(now) - row.integer(1)) / 1e6});
  return {};
}

Result<void> read_agents(db::Transaction& tx, Time now, metrics::Samples& out) {
  if (!std::ranges::count(db::schema_tables(), "agents")) return {};
  auto rows = TRY(tx.query("SELECT COUNT(*) FROM agents WHERE revoked_at IS NULL AND last_seen_at > $1",
                           {to_micros(now - kOnline)}));
  out.push_back({&metrics::kAgentsOnline, {}, static_cast<double>(rows.at(0).integer(0))});
  return {};
}

}  // namespace

std::string host_of(std::string_view url) {
  auto begin = url.find("://");
  if (begin == url.npos) return {};
  auto rest = url.substr(begin + 3);
  return std::string(rest.substr(0, rest.find_first_of("/?#")));
}

void Gauges::tick() {
  metrics::Samples fresh;
  auto now = app_.clock.now();
  auto read = app_.sql.read([&](db::Transaction& tx) -> Result<void> {
    TRY(read_jobs(tx, now, fresh));
    return read_agents(tx, now, fresh);
  });
  metrics::publish(read ? std::move(fresh) : metrics::Samples());
  auto url = app_.settings.text("public_base_url");
  std::lock_guard lock(mutex_);
  if (url) public_host_ = host_of(*url);
}

std::string Gauges::public_host() const {
  std::lock_guard lock(mutex_);
  return public_host_;
}

}  // namespace dash::app
