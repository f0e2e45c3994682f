#include "core/storage/storage.hpp"

namespace dash::storage {

Result<std::unique_ptr<StreamingUpload>> Storage::open_streaming_upload(Principal principal) {
  auto at = TRY(stores_.open(principal, ""));
  return std::make_unique<StreamingUpload>(upload_deps(), std::move(principal), std::move(at));
}

Result<DeepTestReport> Storage::deep_test(const Principal& principal, std::string_view backend) {
  TRY(require_admin(principal));
  return storage::deep_test(TRY(stores_.open(principal, backend)), deps_.buffers, deps_.clock);
}

}  // namespace dash::storage
