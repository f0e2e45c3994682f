// Chunked uploads of images: for admins, to the hub, checked to be of the format that the name promises.
#pragma once
#include "core/storage/upload/upload_rules.hpp"

namespace dash::images {

class ImageUploadRules final : public storage::UploadRules {
 public:
  explicit ImageUploadRules(storage::Stores& stores) : stores_(stores) {}

  std::string_view audit_action() const override { return "image.upload"; }
  std::string_view target_words() const override { return "image hub"; }
  Result<storage::OpenBackend> target(const Principal& principal) override;
  Result<storage::OpenBackend> open(const Principal& principal, const std::string& backend) override;
  Result<void> check_name(const Principal& principal, const storage::OpenBackend& backend,
                          const std::string& name) override;
  Result<void> check_size(std::uint64_t size) override;
  std::string record_name(const std::string& name) const override;
  // Returns what the first and the last part show of the format; "" for those between.
  std::string marks_of(const storage::Handle& handle, std::uint32_t n,
                       std::string_view part_bytes) const override;
  // Code::invalid without every part's ref, and when the image is not what its name says.
  Result<void> check_parts(const storage::Handle& handle, const storage::CommitList& parts) const override;
  std::vector<storage::SecretFinding> findings(const storage::OpenBackend&, const storage::Handle&,
                                               std::uint32_t, std::string_view) const override {
    return {};
  }

 private:
  storage::Stores& stores_;
};

}  // namespace dash::images
