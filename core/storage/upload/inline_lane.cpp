#include "core/storage/upload/inline_lane.hpp"

#include <cstring>

#include "core/base/address.hpp"
#include "core/base/log.hpp"
#include "core/storage/assets/records.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::seconds kInlinePatience{10};

std::string_view view(const Part& part, std::size_t size) { return {part.data(), size}; }

}  // namespace

Incoming::Incoming(UploadSeams seams, Principal who, Opened at)
    : seams_(seams),
      who_(std::move(who)),
      uploader_{{who_.username, network_of(who_.address)}, true},
      at_(std::move(at)) {}

Incoming::~Incoming() {
  if (upload_.empty()) return;
  if (auto done = at_.store->abort(upload_); !done)
    log::warning("storage.abort_failed", {{"backend", at_.id()}, {"error", done.error().message}});
}

Result<void> Incoming::name(const std::string& filename) {
  TRY(check_upload_name(filename));
  if (at_.backend->id == "agent_local") TRY(check_agent_name(filename));
  TRY(seams_.scopes.ask(who_, at_.id(), filename, Use::replace));
  name_ = filename;
  return {};
}

Result<void> Incoming::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (filled_ == kPartBytes) TRY(make_room());
    if (!filling_) filling_ = TRY(seams_.parts.take(kInlinePatience, uploader_));
    auto n = std::min(bytes.size(), kPartBytes - filled_);
    std::memcpy(filling_.data() + filled_, bytes.data(), n);
    filled_ += n;
    size_ += n;
    bytes.remove_prefix(n);
  }
  return {};
}

// The buffer is full and more comes: to the store with it, or aside until the name is known.
Result<void> Incoming::make_room() {
  if (name_.empty()) {
    if (held_)
      return fail(Code::invalid, "send filename before content_b64 when the file is larger than {} bytes",
                  2 * kPartBytes);
    held_ = std::move(filling_);
  } else {
    if (held_) TRY(stage(std::exchange(held_, Part()), kPartBytes, false));
    TRY(stage(filling_, kPartBytes, false));
  }
  filled_ = 0;
  return {};
}

std::string Incoming::account(std::string_view part_bytes) {
  if (staged_.empty() && at_.scans_secrets) findings_ = scan_for_secrets(name_, part_bytes);
  auto sha256 = crypto::sha256(part_bytes);
  digests_.add(sha256);
  return sha256;
}

Result<void> Incoming::stage(const Part& part, std::size_t size, bool is_last) {
  if (upload_.empty()) upload_ = TRY(at_.store->begin(at_.key_of(name_), std::nullopt));
  auto sha256 = account(view(part, size));
  auto n = static_cast<std::uint32_t>(staged_.size() + 1);
  auto tag = TRY(at_.store->put_part(upload_, n, {view(part, size), sha256}, is_last));
  staged_.push_back({n, size, std::move(tag)});
  return {};
}

Result<Object> Incoming::put_whole() {
  auto bytes = filling_ ? view(filling_, filled_) : std::string_view();
  auto sha256 = account(bytes);
  digest_ = digests_.finish();
  return at_.store->put(at_.key_of(name_), {bytes, sha256}, {digest_, false});
}

Result<Object> Incoming::commit_staged() {
  if (held_) TRY(stage(std::exchange(held_, Part()), kPartBytes, false));
  TRY(stage(filling_, filled_, true));
  digest_ = digests_.finish();
  auto object = TRY(at_.store->commit(upload_, staged_, {digest_, false}));
  upload_.clear();
  return object;
}

Result<Uploaded> Incoming::finish() {
  // Scope again: the file may have been on its way for minutes.
  TRY(seams_.scopes.ask(who_, at_.id(), name_, Use::replace));
  auto object = TRY(size_ <= kPartBytes ? put_whole() : commit_staged());
  if (object.size != size_)
    return fail(Code::integrity, "the store made {} bytes of {}'s {}; upload it again", object.size, name_,
                size_);
  TRY(record(object));
  return Uploaded{at_.shown_id(), name_, size_, digest_, std::move(findings_)};
}

Result<void> Incoming::record(const Object& object) {
  return seams_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(remember_digest(tx, at_.store->place(), name_, object.etag, digest_));
    OrderedJson details{{"backend", at_.id()}, {"lane", "inline"}, {"size", size_}, {"digest", digest_}};
    TRY(seams_.audit.append(tx, audit::by(who_, "storage.upload", name_, std::move(details))));
    return {};
  });
}

Result<std::unique_ptr<InlineUpload>> InlineUpload::open(UploadSeams seams, Principal who) {
  auto at = TRY(seams.stores.open(who, ""));
  return std::make_unique<InlineUpload>(seams, std::move(who), at);
}

InlineUpload::InlineUpload(UploadSeams seams, Principal who, const Opened& at)
    : file_(seams, std::move(who), at),
      body_(at.backend->inline_ceiling, [this](std::string_view decoded) -> Result<void> {
        TRY(name_when_known());
        return file_.write(decoded);
      }) {}

Result<void> InlineUpload::name_when_known() {
  if (is_named_ || !body_.filename()) return {};
  is_named_ = true;
  return file_.name(*body_.filename());
}

Result<void> InlineUpload::write(std::string_view body) {
  TRY(body_.feed(body));
  return name_when_known();
}

Result<Uploaded> InlineUpload::finish() {
  TRY(body_.finish());
  TRY(name_when_known());
  return file_.finish();
}

OrderedJson to_json(const Uploaded& uploaded) {
  return {{"ok", true},
          {"filename", uploaded.filename},
          {"size", uploaded.size},
          {"secret_findings", to_json(uploaded.findings)},
          {"backend", uploaded.backend},
          {"digest", uploaded.digest}};
}

}  // namespace dash::storage
