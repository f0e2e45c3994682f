// Lists the processes that run jobs, by their heartbeats.
#include "core/jobs/jobs.hpp"
#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr std::chrono::seconds kAliveTimeout{60};  // three times the interval of a living process
constexpr std::chrono::hours kRetention{24 * 7};

}  // namespace

Result<void> Jobs::heartbeat(const std::string& owner, std::size_t threads) {
  auto now = deps_.clock.now();
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        R"(INSERT INTO workers (owner, threads, started_at, seen_at)
           VALUES ($1, $2, $3, $3)
           ON CONFLICT (owner) DO UPDATE
           SET seen_at = $3,
             started_at = CASE WHEN workers.started_at > $3 THEN $3 ELSE workers.started_at END)",
        {owner, static_cast<std::int64_t>(threads), to_micros(now)}));
    // A living process adds its row again.
    TRY(tx.exec("DELETE FROM workers WHERE seen_at < $1 OR seen_at > $2",
                {to_micros(now - kRetention), to_micros(now + kClockTolerance)}));
    return {};
  });
}

Result<OrderedJson> Jobs::worker_status(const Principal& principal) {
  TRY(require_admin(principal));
  auto now = deps_.clock.now();
  auto alive_since = to_micros(now - kAliveTimeout), alive_until = to_micros(now + kClockTolerance);
  return db::read<OrderedJson>(deps_.sql, [&](db::Transaction& tx) -> Result<OrderedJson> {
    auto rows =
        TRY(tx.query("SELECT owner, threads, started_at, seen_at FROM workers ORDER BY seen_at DESC, owner"));
    if (rows.empty()) return OrderedJson{{"never_run", true}};
    std::int64_t threads = 0;
    auto workers = OrderedJson::array();
    for (const auto& row : rows) {
      bool alive = row.integer(3) >= alive_since && row.integer(3) <= alive_until;
      if (alive) threads += row.integer(1);
      workers.push_back({{"owner", row.text(0)},
                         {"threads", row.integer(1)},
                         {"started_at", format_iso(from_micros(row.integer(2)))},
                         {"seen_at", format_iso(from_micros(row.integer(3)))},
                         {"alive", alive}});
    }
    auto running = TRY(tx.query("SELECT count(*) FROM jobs WHERE state = 'running'"))[0].integer(0);
    return OrderedJson{{"configured", {{"total", threads}}},
                       {"effective", {{"total", threads}}},
                       {"clamp_reason", nullptr},
                       {"running", running},
                       {"workers", workers}};
  });
}

}  // namespace dash::jobs
