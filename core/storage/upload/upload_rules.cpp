#include "core/storage/upload/upload_rules.hpp"

#include "core/storage/store/names.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {

Result<OpenBackend> AssetUploadRules::target(const Principal& principal) {
  if (!active_backend(TRY(stores_.settings())->values()))
    return fail(Code::invalid,
                "No active storage backend. Configure one on /storage and select it as active.");
  auto backend = TRY(stores_.open(principal, ""));
  if (!backend.descriptor->is_chunked())
    return fail(Code::invalid, "'{}' has no chunked lane. {}", backend.display_id(),
                backend.descriptor->limit_reason);
  return backend;
}

Result<void> AssetUploadRules::check_name(const Principal& principal, const OpenBackend& backend,
                                          const std::string& name) {
  TRY(check_upload_name(name));
  return scopes_.check(principal, backend.id(), name, AssetAccess::replace);
}

Result<void> AssetUploadRules::check_size(std::uint64_t size) { return check_chunked_size(size); }

std::vector<SecretFinding> AssetUploadRules::findings(const OpenBackend& backend, const Handle& handle,
                                                      std::uint32_t n, std::string_view part_bytes) const {
  if (n != 1 || !backend.scans_secrets) return {};
  return scan_for_secrets(handle.name, part_bytes);
}

}  // namespace dash::storage
