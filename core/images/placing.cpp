#include "core/images/placing.hpp"

#include "core/images/formats.hpp"
#include "core/images/hub.hpp"
#include "core/images/image_copy.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/storage/assets/migration_meter.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/names.hpp"

namespace dash::images {
namespace {

bool is_on_hub(const storage::OpenBackend& hub, const storage::OpenBackend& source, std::string_view key) {
  return hub.store->place() == source.store->place() && key.starts_with(hub.prefix);
}

// The build's object is deleted in the end, so it must be nothing that the dashboard keeps.
Result<void> check_source_key(const storage::OpenBackend& source, const std::string& key) {
  TRY(storage::check_key(key));
  bool is_asset = key.starts_with(source.prefix) && storage::asset_type(key);
  if (!is_asset && (!storage::is_reserved(key) || key.starts_with(storage::kImagePrefix))) return {};
  return fail(Code::invalid, "'{}' in {} is the dashboard's own, and no image of a build", key,
              source.display_id());
}

Failure no_object(const storage::OpenBackend& source, const std::string& key) {
  return fail(Code::not_found, "{} has no object '{}'; a key counts from the root of its bucket",
              source.display_id(), key);
}

Result<storage::Object> find_source(const storage::OpenBackend& source, const std::string& key) {
  auto object = source.store->head(key);
  if (object || object.error().code != Code::not_found) return object;
  return no_object(source, key);
}

Result<std::optional<storage::Object>> find(storage::ObjectStore& store, const std::string& key) {
  auto object = store.head(key);
  if (!object && object.error().code == Code::not_found) return std::nullopt;
  return TRY(std::move(object));
}

Failure name_is_taken(std::string_view name) {
  return fail(Code::conflict,
              "the hub already has an image '{}'; delete it first (dashctl storage hub delete {}), or choose "
              "another name",
              name, name);
}

// A run of the same request that goes on, or whose process died after it had copied: enqueuing tells which.
Result<bool> is_begun(db::Sql& sql, const PlaceRequest& request, std::string_view backend) {
  return db::read<bool>(sql, [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query("SELECT request FROM jobs WHERE action = $1 AND state = 'running' AND name = $2",
                             {std::string(kImageAction), request.name}));
    const Json wanted{{"backend", backend}, {"key", request.key}};
    for (const auto& row : rows)
      if (TRY(parse_json(row.text(0))).value("source", Json()) == wanted) return true;
    return false;
  });
}

std::string text(const Json& parameters, const char* member) {
  return parameters.at(member).get<std::string>();
}

// A member of the job's details: what a run of it placed, for one that finds the build's object deleted.
constexpr const char* kPlaced = "placed";

// Returns the image that a former run of this job placed; nullopt where the hub has none, or another's.
std::optional<storage::CopyResult> placed_before(const jobs::Job& job,
                                                 const std::optional<storage::Object>& there) {
  auto placed = job.details.find(kPlaced);
  if (!there || placed == job.details.end() || placed->value("etag", "") != there->etag) return std::nullopt;
  return storage::CopyResult{*there, placed->value("digest", "")};
}

}  // namespace

Result<Placing::Sides> Placing::open(const Principal& principal, const std::string& backend,
                                     const std::string& name) {
  Sides sides;
  sides.hub = TRY(open_hub(deps_.stores, principal));
  sides.source = TRY(deps_.stores.open(principal, backend));
  sides.target = sides.hub.key_of(name);
  return sides;
}

Result<OrderedJson> Placing::check(const Principal& principal, const PlaceRequest& request) {
  auto sides = TRY(open(principal, request.backend, request.name));
  TRY(check_image_name(request.name));
  TRY(check_source_key(sides.source, request.key));
  auto object = TRY(find_source(sides.source, request.key));
  bool is_in_place = sides.is_one_store() && request.key == sides.target;
  bool is_taken = !is_in_place && TRY(find(*sides.hub.store, sides.target));
  if (is_taken && !TRY(is_begun(deps_.sql, request, sides.source.id()))) return name_is_taken(request.name);
  TRY(check_image_size(object.size));
  TRY(check_format(request.name, object.size, TRY(read_marks(*sides.source.store, object))));
  return OrderedJson{{"name", request.name},
                     {"backend", sides.source.id()},
                     {"key", request.key},
                     {"etag", object.etag},
                     {"size", object.size},
                     {"source_place", sides.source.store->place()},
                     {"hub_place", sides.hub.store->place()}};
}

// A former run of this job may have copied already: then both sides have the same bytes.
Result<storage::CopyResult> Placing::bring(const Sides& sides, const storage::Object& object,
                                           jobs::RunControl& control, bool& is_copied) {
  storage::MigrationMeter meter(deps_.clock, 0, control);
  meter.begin(1, object.size);
  storage::MigrationMeter::Item item(meter, object.size);
  auto there = TRY(find(*sides.hub.store, sides.target));
  if (!there) {
    ImageCopy copy{{*sides.source.store, object, object.digest}, *sides.hub.store, sides.target};
    copy.only_if_absent = true;
    if (sides.is_one_store()) copy.inside_bucket = "";
    is_copied = true;
    return copy_image(copy, item, deps_.buffers);
  }
  auto digest = TRY(storage::read_digest(*sides.hub.store, *there, deps_.buffers, &item));
  bool is_same = sides.is_one_store() && object.key == sides.target;
  if (!is_same)
    is_same = digest == TRY(storage::read_digest(*sides.source.store, object, deps_.buffers, &item));
  if (!is_same) return name_is_taken(sides.target.substr(sides.hub.prefix.size()));
  return storage::CopyResult{*std::move(there), std::move(digest)};
}

Result<void> Placing::record(const Principal& principal, const jobs::Job& job, const Json& parameters,
                             const Sides& sides, const storage::CopyResult& image) {
  auto name = text(parameters, "name");
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(storage::record_digest(tx, sides.hub.store->place(), digest_record_name(name), image.object.etag,
                               image.digest));
    TRY(jobs::set_job_detail(tx, job.id, kPlaced, {{"etag", image.object.etag}, {"digest", image.digest}}));
    OrderedJson details{{"backend", sides.hub.id()},      {"source", sides.source.id()},
                        {"key", text(parameters, "key")}, {"size", image.object.size},
                        {"digest", image.digest},         {"job_id", job.id}};
    TRY(deps_.audit.append(tx, audit::make_event(principal, "image.place", name, std::move(details))));
    return {};
  });
}

// Returns why the object is kept; "" when it is gone.
std::string Placing::remove_source(const Principal& principal, const jobs::Job& job, const Sides& sides,
                                   const storage::Object& object) {
  if (is_on_hub(sides.hub, sides.source, object.key)) return "it is on the hub";
  auto removed = sides.source.store->remove_unchanged(object);
  if (!removed && removed.error().code == Code::precondition) return "it was replaced since it was copied";
  if (!removed && removed.error().code != Code::not_found) return removed.error().message;
  auto audited = deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"backend", sides.source.id()}, {"size", object.size}, {"job_id", job.id}};
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "image.source_delete", object.key, std::move(details))));
    return {};
  });
  return audited ? "" : audited.error().message;
}

Result<OrderedJson> Placing::run(const Principal& principal, const jobs::Job& job, const Json& parameters,
                                 jobs::RunControl& control) {
  auto name = text(parameters, "name"), key = text(parameters, "key");
  auto sides = TRY(open(principal, text(parameters, "backend"), name));
  if (sides.hub.store->place() != text(parameters, "hub_place") ||
      sides.source.store->place() != text(parameters, "source_place"))
    return fail(Code::conflict,
                "the storage settings changed since the job was made; ask for the image again");
  auto found = TRY(find(*sides.source.store, key));
  OrderedJson result{{"name", name}, {"hub", sides.hub.display_id()}};
  bool is_copied = false;
  storage::CopyResult image;
  std::string kept;
  if (found && found->etag != text(parameters, "etag"))
    return fail(Code::precondition, "'{}' was replaced since the job was made; ask for the image again", key);
  if (found) {
    image = TRY(bring(sides, *found, control, is_copied));
    TRY(record(principal, job, parameters, sides, image));
    kept = remove_source(principal, job, sides, *found);
    if (!kept.empty()) control.log(fmt::format("kept '{}' in {}: {}", key, sides.source.display_id(), kept));
  } else {
    auto placed = placed_before(job, TRY(find(*sides.hub.store, sides.target)));
    if (!placed) return no_object(sides.source, key);
    image = *std::move(placed);
  }
  result.update({{"size", image.object.size},
                 {"format", word(*format_of_name(name))},
                 {"digest", image.digest},
                 {"copied", is_copied},
                 {"source", {{"backend", sides.source.display_id()}, {"key", key}}},
                 {"source_deleted", kept.empty()},
                 {"source_kept", kept.empty() ? OrderedJson(nullptr) : OrderedJson(kept)},
                 {"job_id", job.id}});
  return result;
}

}  // namespace dash::images
