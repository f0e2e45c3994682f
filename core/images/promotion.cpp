#include "core/images/promotion.hpp"

#include "core/images/hub.hpp"
#include "core/images/image_copy.hpp"
#include "core/images/staging.hpp"
#include "core/storage/assets/migration_meter.hpp"
#include "core/storage/assets/records.hpp"

namespace dash::images {
namespace {

std::string member(const Json& parameters, const char* name) {
  return parameters.at(name).get<std::string>();
}

}  // namespace

Result<OrderedJson> Promotion::check(const Principal& principal, const PromoteRequest& request) {
  auto hub = TRY(open_hub(deps_.stores, principal));
  auto image = TRY(find_image(hub, request.name));
  auto staging = TRY(open_staging(deps_.stores, principal, hub, request.cloud));
  return OrderedJson{{"name", request.name},
                     {"cloud", staging.cloud},
                     {"etag", image.etag},
                     {"hub_place", hub.store->place()},
                     {"staging_place", staging.at.store->place()},
                     {"key", staging.at.key_of(request.name)}};
}

Result<std::string> Promotion::known_digest(const storage::OpenBackend& hub, const std::string& name,
                                            const storage::Object& image) {
  if (!image.digest.empty()) return image.digest;
  return db::read<std::string>(deps_.sql, [&](db::Transaction& tx) {
    return storage::recorded_digest(tx, hub.store->place(), digest_record_name(name), image);
  });
}

Result<OrderedJson> Promotion::run(const Principal& principal, const jobs::Job& job, const Json& parameters,
                                   jobs::RunControl& control) {
  auto name = member(parameters, "name"), key = member(parameters, "key");
  auto hub = TRY(open_hub(deps_.stores, principal));
  auto staging = TRY(open_staging(deps_.stores, principal, hub, member(parameters, "cloud")));
  if (hub.store->place() != member(parameters, "hub_place") || staging.at.key_of(name) != key ||
      staging.at.store->place() != member(parameters, "staging_place"))
    return fail(Code::conflict,
                "the storage settings changed since the job was made; promote the image again");
  auto image = TRY(find_image(hub, name));
  if (image.etag != member(parameters, "etag"))
    return fail(Code::precondition, "'{}' was replaced since the job was made; promote it again", name);
  storage::MigrationMeter meter(deps_.clock, 0, control);
  meter.begin(1, image.size);
  storage::MigrationMeter::Item item(meter, image.size);
  auto digest = TRY(known_digest(hub, name, image));
  ImageCopy copy{{*hub.store, image, digest}, *staging.at.store, key, staging.hub_bucket};
  auto copied = TRY(copy_image(copy, item, deps_.buffers));
  OrderedJson staged{{"backend", staging.at.display_id()}, {"bucket", staging.bucket}, {"key", key}};
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    OrderedJson details{{"cloud", staging.cloud},
                        {"bucket", staging.bucket},
                        {"key", key},
                        {"digest", copied.digest},
                        {"job_id", job.id}};
    TRY(deps_.audit.append(tx, audit::make_event(principal, "image.promote", name, std::move(details))));
    return {};
  }));
  auto values = TRY(deps_.stores.settings())->values();
  return OrderedJson{
      {"name", name},
      {"hub", hub.display_id()},
      {"cloud",
       hub.style == config::NameStyle::provider ? config::provider_cloud(staging.cloud) : staging.cloud},
      {"size", image.size},
      {"digest", copied.digest},
      {"staged", staged},
      {"next_step", next_step(values, staging.cloud)},
      {"job_id", job.id}};
}

}  // namespace dash::images
