// What the chunked uploads of assets and those of images do not share: where they go, under which names, up
// to which size, and what is seen in their parts. Thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/assets/scope.hpp"
#include "core/storage/assets/secret_scan.hpp"
#include "core/storage/settings/stores.hpp"
#include "core/storage/upload/commit_list.hpp"
#include "core/storage/upload/handle.hpp"

namespace dash::storage {

class UploadRules {
 public:
  virtual ~UploadRules() = default;

  // The words of audit entries and messages.
  virtual std::string_view audit_action() const = 0;
  virtual std::string_view target_words() const = 0;  // "active storage backend"

  // Returns where a new upload goes. Code::invalid when no backend can take one.
  virtual Result<OpenBackend> target(const Principal& principal) = 0;
  // Opens the backend of an upload; blank: where new ones go. `is_active` is true while new ones go there.
  virtual Result<OpenBackend> open(const Principal& principal, const std::string& backend) = 0;
  // Checks a name before begin and before commit: its form, and that the caller may write it.
  virtual Result<void> check_name(const Principal& principal, const OpenBackend& backend,
                                  const std::string& name) = 0;
  // Code::invalid for an empty upload, Code::too_large above the ceiling.
  virtual Result<void> check_size(std::uint64_t size) = 0;
  // Returns the name of the object's digest among the records of its place.
  virtual std::string record_name(const std::string& name) const = 0;

  // Returns what commit must know of a part's bytes, at most 255 bytes; its ref seals it.
  virtual std::string marks_of(const Handle& handle, std::uint32_t n, std::string_view part_bytes) const = 0;
  // Checks the parts that the client listed, before the store makes them one object.
  virtual Result<void> check_parts(const Handle& handle, const CommitList& parts) const = 0;
  virtual std::vector<SecretFinding> findings(const OpenBackend& backend, const Handle& handle,
                                              std::uint32_t n, std::string_view part_bytes) const = 0;
};

// Assets go to the active backend.
class AssetUploadRules final : public UploadRules {
 public:
  AssetUploadRules(Stores& stores, AssetScopes& scopes) : stores_(stores), scopes_(scopes) {}

  std::string_view audit_action() const override { return "storage.upload"; }
  std::string_view target_words() const override { return "active storage backend"; }
  Result<OpenBackend> target(const Principal& principal) override;
  Result<OpenBackend> open(const Principal& principal, const std::string& backend) override {
    return stores_.open(principal, backend);
  }
  Result<void> check_name(const Principal& principal, const OpenBackend& backend,
                          const std::string& name) override;
  Result<void> check_size(std::uint64_t size) override;
  std::string record_name(const std::string& name) const override { return name; }
  std::string marks_of(const Handle&, std::uint32_t, std::string_view) const override { return ""; }
  Result<void> check_parts(const Handle&, const CommitList&) const override { return {}; }
  std::vector<SecretFinding> findings(const OpenBackend& backend, const Handle& handle, std::uint32_t n,
                                      std::string_view part_bytes) const override;

 private:
  Stores& stores_;
  AssetScopes& scopes_;
};

}  // namespace dash::storage
