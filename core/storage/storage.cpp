#include "core/storage/storage.hpp"

#include "core/storage/assets/usage.hpp"

namespace dash::storage {

Result<std::unique_ptr<StreamingUpload>> Storage::open_streaming_upload(Principal principal) {
  auto at = TRY(stores_.open(principal, ""));
  return std::make_unique<StreamingUpload>(upload_deps(), std::move(principal), std::move(at));
}

// The order is that of storage::backends().
Result<OrderedJson> Storage::backends(const Principal& principal) {
  auto document = TRY(config_.backends());
  if (!principal.is_admin) return document;
  auto usages = TRY(recorded_usage(deps_.sql));
  auto all = storage::backends();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto usage = usages.find(std::string(all[i].id));
    document["backends"][i]["usage"] = usage == usages.end() ? OrderedJson() : to_json(usage->second);
  }
  return document;
}

Result<DeepTestReport> Storage::deep_test(const Principal& principal, std::string_view backend) {
  TRY(require_admin(principal));
  return storage::deep_test(TRY(stores_.open(principal, backend)), deps_.buffers, deps_.clock);
}

}  // namespace dash::storage
