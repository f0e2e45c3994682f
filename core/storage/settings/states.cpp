#include "core/storage/settings/states.hpp"

#include <algorithm>

#include "core/base/shape.hpp"
#include "core/jobs/lease.hpp"
#include "core/storage/settings/versioning.hpp"

namespace dash::storage {
namespace {

OrderedJson lock_json(const std::optional<StateLock>& lock) {
  if (!lock) return nullptr;
  return {
      {"id", lock->id}, {"who", lock->who}, {"operation", lock->operation}, {"created_at", lock->created_at}};
}

OrderedJson item_json(const StateItem& item) {
  const auto& state = item.document;
  return {{"job", item.entry.job},
          {"key", item.key},
          {"bytes", item.entry.object.size},
          {"serial", state ? OrderedJson(state->serial) : OrderedJson()},
          {"lineage", state ? OrderedJson(state->lineage) : OrderedJson()},
          {"resources", state ? state->resources.size() : 0},
          {"lock", lock_json(item.lock)}};
}

}  // namespace

Result<States::ActivePlace> States::active_place() {
  auto settings = TRY(deps_.stores.settings());
  const auto& values = settings->values();
  auto* backend = active_backend(values);
  if (!backend)
    return fail(Code::upstream,
                "No active storage backend. Configure one on /storage and select it as active.");
  auto name = backend_in_style(name_style_of(values), backend->id);
  auto place = TRY(StatePlace::open(deps_.open, {backend, &values}, deps_.deploy_folder));
  return ActivePlace{settings, std::move(name), std::move(place)};
}

Result<StateItem> States::read_item(const StatePlace& place, StateEntry entry) const {
  auto lock = TRY(place.find_lock(entry.object.key));
  auto key = place.shown_key(entry.object.key);
  StateItem item{std::move(entry), std::move(key), std::nullopt, std::move(lock)};
  const auto& object = item.entry.object;
  if (object.size == 0 || object.size > kMaxStateBytes) return item;
  auto head = place.store().head(object.key);
  auto text = head ? place.read(*head) : Result<std::string>(Failure(head.error()));
  // It was replaced since it was listed. The next call finds the new one.
  if (!text && (text.error().code == Code::precondition || text.error().code == Code::not_found)) return item;
  item.document = parse_state(TRY(std::move(text)));
  return item;
}

Result<StateListResult> States::list(const Principal& principal) {
  TRY(require_admin(principal));
  auto active = TRY(active_place());
  StateListResult result{active.backend, {}};
  for (auto& entry : TRY(active.place.list()).states)
    result.items.push_back(TRY(read_item(active.place, std::move(entry))));
  return result;
}

Result<States::JobState> States::find(const Principal& principal, const std::string& job) {
  TRY(require_admin(principal));
  auto active = TRY(active_place());
  auto states = TRY(active.place.list()).states;
  auto it = std::ranges::find_if(states, [&](const StateEntry& entry) { return entry.job == job; });
  if (it == states.end())
    return fail(Code::not_found, "There is no infrastructure state of the job '{}' on '{}'.", job,
                active.backend);
  return JobState{std::move(active), std::move(*it)};
}

Result<StateListResult> States::show(const Principal& principal, const std::string& job) {
  auto found = TRY(find(principal, job));
  StateListResult result{found.active.backend, {}};
  result.items.push_back(TRY(read_item(found.active.place, std::move(found.entry))));
  return result;
}

Result<StateHistoryResult> States::read_history(const ActivePlace& active, const std::string& job,
                                                const std::string& key) const {
  auto kept = TRY(active.place.versions(key));
  StateHistoryResult result{active.backend, job, active.place.shown_key(key), std::move(kept),
                            !active.place.is_file_system()};
  auto& versions = result.kept.versions;
  // Where versions were never kept, some stores list the object itself and some nothing.
  bool is_current_alone = versions.size() == 1 && versions[0].is_current;
  if (result.kept.versioning != Versioning::on && is_current_alone) versions.clear();
  return result;
}

Result<StateHistoryResult> States::history(const Principal& principal, const std::string& job) {
  auto found = find(principal, job);
  if (found) return read_history(found->active, job, found->entry.object.key);
  bool is_name = !job.empty() && job.find('/') == job.npos && job.front() != '.';
  if (found.error().code != Code::not_found || !is_name) return Failure(std::move(found).error());
  // A state that was deleted is not listed, and its versions are what is left of it.
  auto active = TRY(active_place());
  auto result = TRY(read_history(active, job, active.place.key_of(job)));
  if (result.kept.versions.empty()) return Failure(std::move(found).error());
  return result;
}

// A deploy locks its own state. Which machine a running removal works on is sealed in its parameters, so each
// one whose target may be the job's machine counts. The module jobs writes the table.
Result<void> States::check_holder(const std::string& job) {
  constexpr std::string_view kHolder = R"(SELECT id FROM jobs
                                          WHERE state = 'running' AND NOT {}
                                            AND (id = $1
                                                 OR (action LIKE '%:destroy'
                                                     AND EXISTS (SELECT 1 FROM jobs d
                                                                 WHERE d.id = $1
                                                                   AND (d.name = jobs.name
                                                                        OR d.resource_id = jobs.name
                                                                        OR d.resource_id = jobs.resource_id))))
                                          ORDER BY id LIMIT 1)";
  auto length = TRY(jobs::lease_micros(deps_.settings));
  auto holder = TRY(db::read<std::string>(deps_.sql, [&](db::Transaction& tx) -> Result<std::string> {
    auto rows = TRY(tx.query(fmt::format(kHolder, jobs::lease_expired_condition(2, 3)),
                             {job, to_micros(deps_.clock.now()), length}));
    return rows.empty() ? std::string() : rows[0].text(0);
  }));
  if (holder.empty()) return {};
  return fail(Code::conflict,
              "The job {} runs and holds the lock on the state of '{}'. Wait until it ends, or cancel it.",
              holder, job);
}

Result<void> States::unlock(const Principal& principal, const std::string& job, const std::string& id) {
  TRY(require_admin(principal));
  if (id.empty()) return missing_member("id");
  auto found = TRY(find(principal, job));
  const auto& place = found.active.place;
  const auto& key = found.entry.object.key;
  auto lock = TRY(place.find_lock(key));
  if (!lock) return fail(Code::not_found, "The state of the job '{}' is not locked.", job);
  // A lease without a note has an id that only the store knows. The store compares it.
  bool is_noted = place.is_file_system() || !lock->id.empty();
  if (is_noted && id != lock->id && id != lock->alias)
    return fail(Code::conflict,
                "The lock on the state of the job '{}' has another id. List the states, check that its "
                "holder is gone, and send the id that is listed.",
                job);
  TRY(check_holder(job));
  if (!is_noted) lock->id = id;
  OrderedJson details{
      {"backend", found.active.backend}, {"key", place.shown_key(key)},   {"id", id}, {"who", lock->who},
      {"operation", lock->operation},    {"created_at", lock->created_at}};
  // The entry comes first: a lock is never ended without one.
  TRY(deps_.audit.append(audit::make_event(principal, "storage_state_unlock", job, std::move(details))));
  return place.release_lock(key, *lock);
}

OrderedJson to_json(const StateListResult& result) {
  auto items = OrderedJson::array();
  for (const auto& item : result.items) items.push_back(item_json(item));
  return {{"backend", result.backend}, {"items", std::move(items)}};
}

OrderedJson show_json(const StateListResult& result) {
  const auto& item = result.items.at(0);
  OrderedJson out{{"backend", result.backend}};
  out.update(item_json(item));
  auto resources = OrderedJson::array();
  if (item.document)
    for (const auto& resource : item.document->resources)
      resources.push_back({{"address", resource.address}, {"type", resource.type}});
  out["resources"] = std::move(resources);
  out["outputs"] = item.document ? item.document->outputs : OrderedJson::object();
  return out;
}

OrderedJson to_json(const StateHistoryResult& result) {
  auto versions = OrderedJson::array();
  for (const auto& version : result.kept.versions)
    versions.push_back({{"id", version.id},
                        {"bytes", version.size},
                        {"modified_at", format_iso(version.modified)},
                        {"current", version.is_current},
                        {"deleted", version.is_deletion}});
  return {{"backend", result.backend},
          {"job", result.job},
          {"key", result.key},
          {"versioning", versioning_word(result.kept.versioning)},
          {"message", versioning_text(result.kept.versioning, result.is_object_store)},
          {"versions", std::move(versions)}};
}

}  // namespace dash::storage
