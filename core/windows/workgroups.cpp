#include "core/windows/workgroups.hpp"

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"

namespace dash::windows {
namespace {

constexpr std::string_view kSelectWorkgroups =
    R"(SELECT w.name, w.description, w.created_at, w.change_window_id, c.name, w.require_change_window,
              w.display_name
       FROM workgroups w
       LEFT JOIN change_windows c ON c.id = w.change_window_id )";

Workgroup group_of(const db::Row& row) {
  Workgroup out;
  out.name = row.text(0), out.description = row.text(1), out.created_at = from_micros(row.integer(2));
  if (!row.is_null(3)) out.window_id = row.text(3);
  if (!row.is_null(4)) out.window_name = row.text(4);
  out.requires_window = row.flag(5);
  out.display_name = row.text(6).empty() ? out.name : row.text(6);
  return out;
}

OrderedJson audit_details(const Workgroup& group) {
  return {{"change_window", group.window_name ? OrderedJson(*group.window_name) : OrderedJson(nullptr)},
          {"require_change_window", group.requires_window}};
}

// Something that would lose its workgroup, and the sentence of the refusal.
struct Reference {
  std::string_view sql;
  std::string_view what;
};
constexpr Reference kReferences[] = {
    {"SELECT count(*) FROM workgroup_members WHERE workgroup = $1", "it has members ({})"},
    {R"(SELECT count(*) FROM jobs
        WHERE workgroup = $1
          AND state IN ('awaiting_approval', 'scheduled', 'pending', 'running'))",
     "it has jobs that have not ended ({})"},
    {R"(SELECT count(*) FROM jobs
        WHERE workgroup = $1 AND destroyed_by IS NULL
          AND (state = 'completed' OR id IN (SELECT job_id FROM deploy_states WHERE resources > 0))
          AND action IN ('cloud1:vm:deploy', 'cloud2:vm:deploy', 'cloud3:vm:deploy', 'cloud4:compute:deploy'))",
     "machines that it deployed still exist ({})"},
    {"SELECT count(*) FROM asset_scopes WHERE workgroup = $1", "assets are scoped to it ({})"},
    {"SELECT count(*) FROM hosts WHERE workgroup = $1", "hosts belong to it ({})"},
    {"SELECT count(*) FROM workgroups WHERE name = $1 AND change_window_id IS NOT NULL",
     "a change window is attached to it"},
};

Result<void> check_can_change(const Principal& principal) {
  TRY(require_sign_in(principal));
  return require_admin(principal);
}

Result<std::optional<std::string>> display_name_of(const Json& body) {
  auto typed = TRY(text_field(body, "display_name"));
  if (!typed) return std::nullopt;
  auto name = std::string(trim(*typed));
  if (name.empty()) return fail(Code::invalid, "display_name is required.");
  return name;
}

}  // namespace

OrderedJson to_json(const Workgroup& group) {
  auto or_null = [](const auto& text) { return text ? OrderedJson(*text) : OrderedJson(nullptr); };
  OrderedJson out;
  out["id"] = group.name;
  out["name"] = group.name;
  out["display_name"] = group.display_name;
  out["description"] = group.description;
  out["created_at"] = format_iso(group.created_at);
  out["change_window_id"] = or_null(group.window_id);
  out["change_window_name"] = or_null(group.window_name);
  out["require_change_window"] = group.requires_window;
  out["is_default"] = false;  // there is no default workgroup
  out["member_count"] = group.members.size();
  out["members"] = group.members;
  return out;
}

Result<void> check_workgroup(const WorkgroupRule& rule, const Principal& principal, const std::string& name) {
  if (!principal.is_admin && !principal.is_member_of(name))
    return fail(Code::forbidden, "you are not a member of the workgroup '{}'", name);
  if (!rule.exists) return fail(Code::invalid, "there is no workgroup '{}'", name);
  return {};
}

Result<void> check_workgroup(db::Transaction& tx, const Principal& principal, const std::string& name) {
  auto rows = TRY(tx.query("SELECT 1 FROM workgroups WHERE name = $1", {name}));
  return check_workgroup(WorkgroupRule{.exists = !rows.empty()}, principal, name);
}

Result<Workgroup> Workgroups::with_members(db::Transaction& tx, Workgroup group) {
  auto rows = TRY(tx.query("SELECT username FROM workgroup_members WHERE workgroup = $1 ORDER BY username",
                           {group.name}));
  for (const auto& row : rows) group.members.push_back(row.text(0));
  return group;
}

Result<Workgroup> Workgroups::get_in(db::Transaction& tx, const std::string& name) {
  auto rows = TRY(tx.query(std::string(kSelectWorkgroups) + "WHERE w.name = $1", {name}));
  if (rows.empty()) return fail(Code::not_found, "Workgroup '{}' not found", name);
  return with_members(tx, group_of(rows[0]));
}

Result<std::vector<Workgroup>> Workgroups::list() {
  return db::read<std::vector<Workgroup>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<Workgroup>> {
    std::vector<Workgroup> out;
    for (const auto& row : TRY(tx.query(std::string(kSelectWorkgroups) + "ORDER BY w.name")))
      out.push_back(TRY(with_members(tx, group_of(row))));
    return out;
  });
}

Result<Workgroup> Workgroups::get(const std::string& name) {
  return db::read<Workgroup>(sql_, [&](db::Transaction& tx) { return get_in(tx, name); });
}

Result<Workgroup> Workgroups::create(const Principal& principal, const Json& body) {
  TRY(check_can_change(principal));
  TRY(require_object(body));
  auto typed = TRY(text_field(body, "name"));
  if (!typed) return missing_member("name");
  auto name = lower(trim(*typed));
  auto description = TRY(text_field(body, "description")).value_or("");
  auto display_name = TRY(display_name_of(body)).value_or("");
  return db::write<Workgroup>(sql_, [&](db::Transaction& tx) -> Result<Workgroup> {
    if (!TRY(tx.query("SELECT 1 FROM workgroups WHERE name = $1", {name})).empty())
      return fail(Code::conflict, "Workgroup '{}' already exists.", name);
    TRY(directory_.make_workgroup(tx, name, description));
    TRY(tx.exec("UPDATE workgroups SET display_name = $2 WHERE name = $1", {name, display_name}));
    TRY(audit_.append(tx, audit::make_event(principal, "workgroup_create", name, {})));
    return get_in(tx, name);
  });
}

Result<Workgroup> Workgroups::update(const Principal& principal, const std::string& name, const Json& body) {
  TRY(check_can_change(principal));
  TRY(require_object(body));
  auto description = TRY(text_field(body, "description"));
  auto display_name = TRY(display_name_of(body));
  auto window_id = TRY(text_field(body, "change_window_id"));
  auto required = TRY(flag_field(body, "require_change_window"));
  return db::write<Workgroup>(sql_, [&](db::Transaction& tx) -> Result<Workgroup> {
    auto group = TRY(get_in(tx, name));
    if (description) group.description = *description;
    if (display_name) group.display_name = *display_name;
    if (window_id && window_id->empty()) {
      group.window_id.reset();
      group.requires_window = false;
    } else if (window_id) {
      if (!TRY(windows_.find(tx, *window_id)))
        return fail(Code::invalid, "there is no change window '{}'", *window_id);
      group.window_id = *window_id;
      group.requires_window = true;
    }
    if (required) group.requires_window = *required;
    if (group.requires_window && !group.window_id)
      return fail(Code::invalid, "require_change_window needs a change_window_id");
    TRY(tx.exec(R"(UPDATE workgroups
                   SET description = $2, change_window_id = $3, require_change_window = $4, display_name = $5
                   WHERE name = $1)",
                {name, group.description, group.window_id ? db::Value(*group.window_id) : db::Value(nullptr),
                 std::int64_t{group.requires_window}, group.display_name}));
    auto updated = TRY(get_in(tx, name));
    TRY(audit_.append(tx, audit::make_event(principal, "workgroup_update", name, audit_details(updated))));
    return updated;
  });
}

Result<void> Workgroups::remove(const Principal& principal, const std::string& name) {
  TRY(check_can_change(principal));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(get_in(tx, name));
    for (const auto& reference : kReferences)
      if (auto n = TRY(tx.query(reference.sql, {name}))[0].integer(0); n > 0)
        return fail(Code::conflict, "Cannot delete workgroup '{}': {}", name,
                    fmt::format(fmt::runtime(reference.what), n));
    TRY(tx.exec("DELETE FROM workgroups WHERE name = $1", {name}));
    TRY(audit_.append(tx, audit::make_event(principal, "workgroup_delete", name, {})));
    return {};
  });
}

Result<void> Workgroups::add_member(const Principal& principal, const std::string& name,
                                    const std::string& username) {
  TRY(check_can_change(principal));
  auto user = identity::fold_username(username);
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(get_in(tx, name));
    if (!TRY(directory_.find(tx, user))) return fail(Code::not_found, "User '{}' not found", username);
    TRY(directory_.add_member(tx, name, user));
    TRY(audit_.append(tx, audit::make_event(principal, "workgroup_member_add", name, {{"username", user}})));
    return {};
  });
}

Result<void> Workgroups::remove_member(const Principal& principal, const std::string& name,
                                       const std::string& username) {
  TRY(check_can_change(principal));
  auto user = identity::fold_username(username);
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(get_in(tx, name));
    auto gone =
        TRY(tx.exec("DELETE FROM workgroup_members WHERE workgroup = $1 AND username = $2", {name, user}));
    if (gone == 0) return fail(Code::not_found, "'{}' is not a member of '{}'", username, name);
    TRY(audit_.append(tx,
                      audit::make_event(principal, "workgroup_member_remove", name, {{"username", user}})));
    return {};
  });
}

}  // namespace dash::windows
