#include "core/agent/dashboard/agent_changes.hpp"

#include "core/agent/dashboard/agent.hpp"
#include "core/base/log.hpp"

namespace dash::agent {
namespace {

// So that a follower learns what happened while the only server was restarted.
constexpr std::chrono::hours kFirstLook{1};

}  // namespace

Result<std::int64_t> newest_agent_change(db::Sql& sql) {
  return db::read<std::int64_t>(sql, [](db::Transaction& tx) -> Result<std::int64_t> {
    return TRY(tx.query("SELECT agents FROM change_head"))[0].integer(0);
  });
}

Result<void> add_agent_change(db::Transaction& tx) {
  TRY(tx.exec("UPDATE change_head SET number = number + 1, agents = number + 1", {}));
  return {};
}

Result<void> OfflineWatch::look() {
  auto now = clock_.now();
  auto before = looked_at_.value_or(now - kFirstLook);
  bool is_any = TRY(db::read<bool>(sql_, [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query(R"(SELECT 1 FROM agents
                                WHERE last_seen_at >= $1 AND last_seen_at < $2 AND public_key <> '' LIMIT 1)",
                             {to_micros(before - kOnlineWindow), to_micros(now - kOnlineWindow)}));
    return !rows.empty();
  }));
  if (is_any) TRY(sql_.write([](db::Transaction& tx) { return add_agent_change(tx); }));
  looked_at_ = now;
  return {};
}

void OfflineWatch::tick() {
  if (auto looked = look(); !looked) log::error("agent.watch_failed", {{"error", looked.error().message}});
}

}  // namespace dash::agent
