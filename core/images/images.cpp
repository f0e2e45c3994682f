#include "core/images/images.hpp"

#include <algorithm>

#include "core/images/formats.hpp"
#include "core/images/hub.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/cursor.hpp"

namespace dash::images {
namespace {

std::string name_of(const storage::Object& object) { return object.key.substr(storage::kImagePrefix.size()); }

Result<storage::RecordedDigests> recorded_digests(db::Sql& sql, const std::string& place,
                                                  const std::vector<storage::Object>& objects) {
  std::vector<std::string> names;
  for (const auto& object : objects) names.push_back(digest_record_name(name_of(object)));
  return db::read<storage::RecordedDigests>(
      sql, [&](db::Transaction& tx) { return storage::list_digests(tx, place, names); });
}

Image describe_image(const storage::Object& object, const storage::RecordedDigests& known) {
  auto name = name_of(object);
  auto format = format_of_name(name);
  auto digest = object.digest;
  auto recorded = known.find(digest_record_name(name));
  if (digest.empty() && recorded != known.end() && recorded->second.etag == object.etag)
    digest = recorded->second.digest;
  return {std::move(name), std::string(format ? word(*format) : ""), object.size, std::move(digest)};
}

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

}  // namespace

Result<ImageList> Images::list(const Principal& principal) {
  auto hub = TRY(open_hub(deps_.stores, principal));
  ImageList images{hub.display_id(), {}};
  std::string cursor;
  do {
    auto listed = hub.store->list(hub.prefix, cursor);
    if (!listed && listed.error().code == Code::not_found)
      listed.error().code = Code::upstream;  // the bucket
    auto page = TRY(std::move(listed));
    std::erase_if(page.objects, [&](const storage::Object& object) {
      return !object.key.starts_with(hub.prefix) || !is_image_key(object.key.substr(hub.prefix.size()));
    });
    auto digests = TRY(recorded_digests(deps_.sql, hub.store->place(), page.objects));
    for (const auto& object : page.objects) images.items.push_back(describe_image(object, digests));
    TRY(storage::advance_cursor(cursor, std::move(page.cursor)));
  } while (!cursor.empty());
  std::ranges::sort(images.items, {}, &Image::name);
  return images;
}

Result<void> Images::remove(const Principal& principal, const std::string& name) {
  auto hub = TRY(open_hub(deps_.stores, principal));
  auto size = TRY(find_image(hub, name)).size;
  auto removed = hub.store->remove(hub.key_of(name));
  if (!removed && removed.error().code == Code::not_found) return image_not_found(name);
  TRY(std::move(removed));
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(storage::remove_digest(tx, hub.store->place(), digest_record_name(name)));
    OrderedJson details{{"backend", hub.id()}, {"size", size}};
    TRY(deps_.audit.append(tx, audit::make_event(principal, "image.delete", name, std::move(details))));
    return {};
  });
}

OrderedJson to_json(const ImageList& list) {
  auto items = OrderedJson::array();
  for (const auto& image : list.items)
    items.push_back({{"name", image.name},
                     {"format", text_or_null(image.format)},
                     {"size", image.size},
                     {"digest", text_or_null(image.digest)}});
  return {{"hub", list.hub}, {"items", items}};
}

}  // namespace dash::images
