// Inline uploads: one request with the file as base64 in JSON, up to 64 MB, for every backend. The body is
// pushed in as it arrives and goes to the store part by part. At most two buffers of the BufferPool are held,
// one as long as the file is smaller than a part. Members may come in any order, but content above 16 MiB
// needs its filename first.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/audit/log.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/principal.hpp"
#include "core/storage/assets/scope.hpp"
#include "core/storage/assets/secret_scan.hpp"
#include "core/storage/settings/stores.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/upload/inline_body.hpp"

namespace dash::storage {

struct UploadResult {
  std::string backend;
  std::string filename;
  std::uint64_t size = 0;
  std::string digest;
  std::vector<SecretFinding> findings;
};
OrderedJson to_json(const UploadResult&);

struct UploadDeps {
  Stores& stores;
  AssetScopes& scopes;
  db::Sql& sql;
  audit::Log& audit;
  BufferPool& buffers;
};

// A file on its way into a store, with a size that is not known yet. Destroyed before finish() it leaves
// nothing and nothing is listed.
class StreamingUpload final : public Sink {
 public:
  // `backend` is the target. Scope and name are checked as soon as the name is given.
  StreamingUpload(UploadDeps deps, Principal principal, OpenBackend backend);
  ~StreamingUpload() override;
  StreamingUpload(const StreamingUpload&) = delete;
  StreamingUpload& operator=(const StreamingUpload&) = delete;

  // Sets the name, once. Code::invalid for the name, Code::conflict for another workgroup's asset.
  Result<void> name(const std::string& filename);
  Result<void> write(std::string_view bytes) override;
  Result<UploadResult> finish();

 private:
  Result<void> flush_full_buffer();
  Result<void> stage(const Buffer& part, std::size_t size, bool is_last);
  // Returns the SHA-256 of the bytes.
  std::string digest_part(std::string_view part_bytes);
  Result<Object> put_whole();
  Result<Object> commit_staged();
  Result<void> record(const Object& object);
  UploadDeps deps_;
  Principal principal_;
  Borrower uploader_;
  OpenBackend backend_;
  std::string name_;
  Buffer unnamed_part_;  // a full part that waits for the name
  Buffer filling_;
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
  std::string upload_;  // the store's upload, once the file is larger than a part
  std::vector<StagedPart> staged_;
  PartDigests digests_;
  std::string digest_;  // of the whole, once it has arrived
  std::vector<SecretFinding> findings_;
};

// The JSON around a StreamingUpload.
class JsonUpload final : public Sink {
 public:
  // Code::upstream when no backend is active.
  static Result<std::unique_ptr<JsonUpload>> open(UploadDeps deps, Principal principal);
  JsonUpload(UploadDeps deps, Principal principal, const OpenBackend& backend);
  Result<void> write(std::string_view body) override;
  Result<UploadResult> finish();

 private:
  Result<void> name_when_known();
  StreamingUpload file_;
  FunctionSink content_;
  InlineBody body_;
  bool is_named_ = false;
};

}  // namespace dash::storage
