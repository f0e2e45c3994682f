#include "core/windows/windows.hpp"

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::windows {
namespace {

constexpr std::string_view kSelectWindows =
    R"(SELECT id, name, description, start_at_local, duration_minutes, timezone, schedule_days, enabled,
         created_by
       FROM change_windows )";

Window window_of(const db::Row& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), static_cast<int>(row.integer(4)),
          row.text(5), row.text(6), row.flag(7), row.text(8)};
}

// Reads the members of `body` into `window`; absent ones keep their value.
Result<void> read_members(const Json& body, Window& window) {
  TRY(require_object(body));
  if (auto name = TRY(text_field(body, "name"))) window.name = trim(*name);
  if (auto text = TRY(text_field(body, "description"))) window.description = *text;
  if (auto start = TRY(text_field(body, "start_at_local"))) window.start = *start;
  if (auto length = TRY(integer_field(body, "duration_minutes"))) {
    // Clamped to a value that check() refuses, so that a huge number cannot wrap into a valid one.
    window.duration_minutes =
        static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(*length, 0), kMaxWindowMinutes + 1));
  }
  if (auto zone = TRY(text_field(body, "timezone"))) {
    if (has_control_character(*zone)) return wrong_value("timezone", "holds a control character");
    window.zone = trim(*zone).empty() ? "UTC" : std::string(trim(*zone));
  }
  if (auto pattern = TRY(text_field(body, "schedule_days")))
    window.days = trim(*pattern).empty() ? "1111111" : std::string(trim(*pattern));
  window.enabled = TRY(flag_field(body, "enabled")).value_or(window.enabled);
  return check(window);
}

OrderedJson audit_details(const Window& window) {
  return {{"id", window.id}, {"summary", summary(window)}, {"enabled", window.enabled}};
}

Failure unknown(const std::string& id) { return fail(Code::not_found, "there is no change window '{}'", id); }

}  // namespace

Result<std::vector<Window>> Windows::list() {
  return db::read<std::vector<Window>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<Window>> {
    std::vector<Window> out;
    for (const auto& row : TRY(tx.query(std::string(kSelectWindows) + "ORDER BY name")))
      out.push_back(window_of(row));
    return out;
  });
}

Result<std::optional<Window>> Windows::find(db::Transaction& tx, const std::string& id) {
  auto rows = TRY(tx.query(std::string(kSelectWindows) + "WHERE id = $1", {id}));
  return rows.empty() ? std::nullopt : std::optional(window_of(rows[0]));
}

Result<WorkgroupRule> Windows::rule_of(db::Transaction& tx, const std::string& workgroup) {
  auto rows = TRY(tx.query("SELECT change_window_id, require_change_window FROM workgroups WHERE name = $1",
                           {workgroup}));
  if (rows.empty()) return WorkgroupRule{};
  if (rows[0].is_null(0) || !rows[0].flag(1)) return WorkgroupRule{.exists = true};
  auto window = TRY(find(tx, rows[0].text(0)));
  return WorkgroupRule{true, rows[0].text(0), std::move(window)};
}

Result<std::shared_ptr<const WorkgroupRule>> Windows::rule_of(const std::string& workgroup) {
  return rules_.get(sql_, workgroup, [&] {
    return db::read<WorkgroupRule>(sql_, [&](db::Transaction& tx) { return rule_of(tx, workgroup); });
  });
}

Result<void> Windows::save(db::Transaction& tx, const Window& w) {
  auto taken = TRY(tx.query("SELECT id FROM change_windows WHERE name = $1 AND id <> $2", {w.name, w.id}));
  if (!taken.empty()) return fail(Code::conflict, "the change window '{}' already exists", w.name);
  TRY(tx.exec(R"(INSERT INTO change_windows
                   (id, name, description, start_at_local, duration_minutes, timezone, schedule_days,
                    enabled, created_by, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                 ON CONFLICT (id) DO UPDATE
                 SET name = $2, description = $3, start_at_local = $4, duration_minutes = $5, timezone = $6,
                   schedule_days = $7, enabled = $8)",
              {w.id, w.name, w.description, w.start, std::int64_t{w.duration_minutes}, w.zone, w.days,
               std::int64_t{w.enabled}, w.created_by, to_micros(clock_.now())}));
  return {};
}

Result<Window> Windows::create(const Principal& principal, const Json& body) {
  TRY(require_permission(principal, kWriteChangeWindows));
  Window window;
  for (auto needed : {"name", "start_at_local", "duration_minutes"})
    if (body.is_object() && (!body.contains(needed) || body[needed].is_null())) return missing_member(needed);
  TRY(read_members(body, window));
  window.id = crypto::uuid4();
  window.created_by = principal.username;
  TRY(sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(save(tx, window));
    TRY(audit_.append(
        tx, audit::make_event(principal, "change_window_create", window.name, audit_details(window))));
    return {};
  }));
  return window;
}

Result<Window> Windows::update(const Principal& principal, const std::string& id, const Json& body) {
  TRY(require_permission(principal, kWriteChangeWindows));
  return db::write<Window>(sql_, [&](db::Transaction& tx) -> Result<Window> {
    auto window = TRY(find(tx, id));
    if (!window) return unknown(id);
    TRY(read_members(body, *window));
    TRY(save(tx, *window));
    TRY(audit_.append(
        tx, audit::make_event(principal, "change_window_update", window->name, audit_details(*window))));
    return *std::move(window);
  });
}

Result<void> Windows::remove(const Principal& principal, const std::string& id) {
  TRY(require_permission(principal, kWriteChangeWindows));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto window = TRY(find(tx, id));
    if (!window) return unknown(id);
    auto groups =
        TRY(tx.query("SELECT name FROM workgroups WHERE change_window_id = $1 ORDER BY name", {id}));
    if (!groups.empty())
      return fail(Code::conflict, "the workgroup '{}' has the change window '{}'; detach it first",
                  groups[0].text(0), window->name);
    auto booked = TRY(tx.query(R"(SELECT count(*) FROM jobs
                                  WHERE change_window_id = $1
                                    AND state IN ('awaiting_approval', 'scheduled', 'pending', 'running'))",
                               {id}));
    if (booked[0].integer(0) > 0)
      return fail(Code::conflict, "jobs are booked into '{}' ({}); cancel them or wait for them",
                  window->name, booked[0].integer(0));
    TRY(tx.exec("DELETE FROM change_windows WHERE id = $1", {id}));
    TRY(audit_.append(
        tx, audit::make_event(principal, "change_window_delete", window->name, audit_details(*window))));
    return {};
  });
}

Result<std::vector<std::string>> Windows::warnings_of(const Window& window) {
  return warnings(window, TRY(list()), clock_.now());
}

Result<OrderedJson> to_json(const Window& window, Time now) {
  OrderedJson out;
  out["id"] = window.id;
  out["name"] = window.name;
  out["description"] = window.description;
  out["start_at_local"] = window.start;
  out["duration_minutes"] = window.duration_minutes;
  out["timezone"] = window.zone;
  out["schedule_days"] = window.days;
  out["enabled"] = window.enabled;
  out["created_by"] = window.created_by;
  out["summary"] = summary(window);
  if (window.enabled) {
    auto soon = TRY(next(window, now));
    out["next_start"] = format_iso(soon.start);
    out["next_end"] = format_iso(soon.end);
  }
  return out;
}

}  // namespace dash::windows
