#include "core/storage/upload/json_uploads.hpp"

#include <cstring>

#include "core/base/address.hpp"
#include "core/base/log.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::seconds kInlineBufferTimeout{10};

std::string_view view(const Buffer& buffer, std::size_t size) { return {buffer.data(), size}; }

}  // namespace

StreamingUpload::StreamingUpload(UploadDeps deps, Principal principal, OpenBackend backend)
    : deps_(deps),
      principal_(std::move(principal)),
      uploader_{{principal_.username, network_of(principal_.address)}, true},
      backend_(std::move(backend)) {}

StreamingUpload::~StreamingUpload() {
  if (upload_.empty()) return;
  if (auto done = backend_.store->abort(upload_); !done)
    log::warning("storage.abort_failed", {{"backend", backend_.id()}, {"error", done.error().message}});
}

Result<void> StreamingUpload::name(const std::string& filename) {
  TRY(check_upload_name(filename));
  if (backend_.descriptor->id == "agent_local") TRY(check_agent_name(filename));
  TRY(deps_.scopes.check(principal_, backend_.id(), filename, AssetAccess::replace));
  name_ = filename;
  return {};
}

Result<void> StreamingUpload::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (filled_ == kPartBytes) TRY(flush_full_buffer());
    if (!filling_) filling_ = TRY(deps_.buffers.acquire(kInlineBufferTimeout, uploader_));
    auto n = std::min(bytes.size(), kPartBytes - filled_);
    std::memcpy(filling_.data() + filled_, bytes.data(), n);
    filled_ += n;
    size_ += n;
    bytes.remove_prefix(n);
  }
  return {};
}

// The buffer is full and more comes: stores it, or sets it aside until the name is known.
Result<void> StreamingUpload::flush_full_buffer() {
  if (name_.empty()) {
    if (unnamed_part_)
      return fail(Code::invalid, "send filename before content_b64 when the file is larger than {} bytes",
                  2 * kPartBytes);
    unnamed_part_ = std::move(filling_);
  } else {
    if (unnamed_part_) TRY(stage(std::exchange(unnamed_part_, Buffer()), kPartBytes, false));
    TRY(stage(filling_, kPartBytes, false));
  }
  filled_ = 0;
  return {};
}

std::string StreamingUpload::digest_part(std::string_view part_bytes) {
  if (staged_.empty() && backend_.scans_secrets) findings_ = scan_for_secrets(name_, part_bytes);
  auto sha256 = crypto::sha256(part_bytes);
  digests_.add(sha256);
  return sha256;
}

Result<void> StreamingUpload::stage(const Buffer& part, std::size_t size, bool is_last) {
  if (upload_.empty()) upload_ = TRY(backend_.store->begin(backend_.key_of(name_), std::nullopt));
  auto sha256 = digest_part(view(part, size));
  auto n = static_cast<std::uint32_t>(staged_.size() + 1);
  auto tag = TRY(backend_.store->put_part(upload_, n, {view(part, size), sha256}, is_last));
  staged_.push_back({n, size, std::move(tag)});
  return {};
}

Result<Object> StreamingUpload::put_whole() {
  auto bytes = filling_ ? view(filling_, filled_) : std::string_view();
  auto sha256 = digest_part(bytes);
  digest_ = digests_.finish();
  return backend_.store->put(backend_.key_of(name_), {bytes, sha256}, {digest_, false});
}

Result<Object> StreamingUpload::commit_staged() {
  if (unnamed_part_) TRY(stage(std::exchange(unnamed_part_, Buffer()), kPartBytes, false));
  TRY(stage(filling_, filled_, true));
  digest_ = digests_.finish();
  auto object = TRY(backend_.store->commit(upload_, staged_, {digest_, false}));
  upload_.clear();
  return object;
}

Result<UploadResult> StreamingUpload::finish() {
  // Scope again: the file may have been on its way for minutes.
  TRY(deps_.scopes.check(principal_, backend_.id(), name_, AssetAccess::replace));
  auto object = TRY(size_ <= kPartBytes ? put_whole() : commit_staged());
  if (object.size != size_)
    return fail(Code::integrity, "the store has {} bytes for {}, which has {}; upload it again", object.size,
                name_, size_);
  TRY(record(object));
  return UploadResult{backend_.display_id(), name_, size_, digest_, std::move(findings_)};
}

Result<void> StreamingUpload::record(const Object& object) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(record_digest(tx, backend_.store->place(), name_, object.etag, digest_));
    OrderedJson details{{"backend", backend_.id()}, {"lane", "inline"}, {"size", size_}, {"digest", digest_}};
    TRY(deps_.audit.append(tx, audit::make_event(principal_, "storage.upload", name_, std::move(details))));
    return {};
  });
}

Result<std::unique_ptr<JsonUpload>> JsonUpload::open(UploadDeps deps, Principal principal) {
  auto backend = TRY(deps.stores.open(principal, ""));
  return std::make_unique<JsonUpload>(deps, std::move(principal), backend);
}

JsonUpload::JsonUpload(UploadDeps deps, Principal principal, const OpenBackend& backend)
    : file_(deps, std::move(principal), backend),
      content_([this](std::string_view decoded) -> Result<void> {
        TRY(name_when_known());
        return file_.write(decoded);
      }),
      body_(backend.descriptor->max_inline_bytes, content_,
            backend.descriptor->is_chunked() ? kUseChunkedLane : backend.descriptor->limit_reason) {}

Result<void> JsonUpload::name_when_known() {
  if (is_named_ || !body_.filename()) return {};
  is_named_ = true;
  return file_.name(*body_.filename());
}

Result<void> JsonUpload::write(std::string_view body) {
  TRY(body_.write(body));
  return name_when_known();
}

Result<UploadResult> JsonUpload::finish() {
  TRY(body_.finish());
  TRY(name_when_known());
  return file_.finish();
}

OrderedJson to_json(const UploadResult& uploaded) {
  return {{"ok", true},
          {"filename", uploaded.filename},
          {"size", uploaded.size},
          {"secret_findings", to_json(uploaded.findings)},
          {"backend", uploaded.backend},
          {"digest", uploaded.digest}};
}

}  // namespace dash::storage
