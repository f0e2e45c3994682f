#include "core/storage/upload/chunked_uploads.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/store/part_layout.hpp"
#include "core/storage/upload/commit_list.hpp"
#include "core/storage/upload/content_digest.hpp"
#include "core/storage/upload/part_ref.hpp"

namespace dash::storage {
namespace {

// A part of 8 MiB at the daemon's minimum rate takes longer, but then its client is gone.
constexpr std::chrono::seconds kUploadLockTimeout{60};

Result<std::uint32_t> check_number(const Handle& handle, std::int64_t n) {
  auto count = part_count(handle.size);
  if (n < 1 || n > count) return fail(Code::invalid, "part {} is outside of 1 to {}", n, count);
  return static_cast<std::uint32_t>(n);
}

Result<void> check_length(const Handle& handle, std::uint32_t n, std::uint64_t bytes) {
  auto promised = part_length(handle.size, n);
  if (bytes == promised) return {};
  return fail(Code::invalid, "part {} has {} bytes; it must have exactly {}", n, bytes, promised);
}

// A store's "no such upload" is the client's mistake here: the upload was closed by another request.
template <class T>
Result<T> as_lost_upload(Result<T> result) {
  if (!result && result.error().code == Code::not_found)
    return fail(Code::invalid, "the store no longer has this upload; begin it again");
  return result;
}

}  // namespace

Result<BeginResult> ChunkedUploads::begin(const Principal& principal, const std::string& filename,
                                          std::int64_t size) {
  auto backend = TRY(deps_.rules.target(principal));
  TRY(deps_.rules.check_name(principal, backend, filename));
  if (size < 0) return fail(Code::invalid, "size must not be negative");
  TRY(deps_.rules.check_size(static_cast<std::uint64_t>(size)));
  Handle handle;
  handle.id = crypto::random_hex(16);
  handle.user = principal.username;
  handle.backend = backend.id();
  handle.place = backend.store->place();
  handle.name = filename;
  handle.size = static_cast<std::uint64_t>(size);
  handle.issued = deps_.clock.now();
  handle.ref = TRY(backend.store->begin(backend.key_of(filename), handle.size));
  TRY(sequencer_.acquire(handle.id, kUploadLockTimeout)).set_begun();
  return BeginResult{seal_handle(key_, handle), backend.display_id(), filename, handle.size};
}

Result<Handle> ChunkedUploads::unseal_handle(const Principal& principal, std::string_view text) const {
  if (text.empty())
    return fail(Code::invalid, "the upload handle is missing: send it in the header X-Upload-Handle");
  return open_handle(key_, text, principal.username, deps_.clock.now());
}

Result<PartRequest> ChunkedUploads::open_part(const Principal& principal, std::string_view handle,
                                              std::int64_t n, std::uint64_t declared_bytes) const {
  auto opened = TRY(unseal_handle(principal, handle));
  auto number = TRY(check_number(opened, n));
  TRY(check_length(opened, number, declared_bytes));
  return PartRequest{std::move(opened), number};
}

Result<Sequence> ChunkedUploads::sequence(const Principal& principal) {
  auto backend = TRY(deps_.rules.open(principal, ""));
  return backend.store->capabilities().is_parallel ? Sequence::parallel : Sequence::in_order;
}

// Returns the backend of the handle, if new uploads still go there and it has the same bucket.
Result<OpenBackend> ChunkedUploads::store_of(const Principal& principal, const Handle& handle) {
  auto backend = TRY(deps_.rules.open(principal, handle.backend));
  if (!backend.is_active || backend.store->place() != handle.place)
    return fail(Code::invalid, "the {} changed since this upload began; begin it again",
                deps_.rules.target_words());
  return backend;
}

Result<std::optional<UploadOutcome>> ChunkedUploads::find_closed(const Handle& handle) {
  return db::read<std::optional<UploadOutcome>>(
      deps_.sql, [&](db::Transaction& tx) { return find_closed_upload(tx, handle.id); });
}

Result<void> ChunkedUploads::check_open(const Handle& handle) {
  auto how = TRY(find_closed(handle));
  if (!how) return {};
  return fail(Code::invalid, "this upload was {}; begin a new one",
              *how == UploadOutcome::aborted ? "aborted" : "committed");
}

Result<std::vector<StagedPart>> ChunkedUploads::staged(const OpenBackend& backend, const Handle& handle) {
  auto parts = TRY(as_lost_upload(backend.store->staged_parts(handle.ref)));
  std::ranges::sort(parts, {}, &StagedPart::n);
  std::size_t good = 0;
  while (good < parts.size() && good < part_count(handle.size) && parts[good].n == good + 1 &&
         parts[good].size == part_length(handle.size, parts[good].n))
    ++good;
  parts.resize(good);
  return parts;
}

Result<void> ChunkedUploads::check_in_order(const OpenBackend& backend, const Handle& handle,
                                            const PartSequencer::UploadLock& lock, std::uint32_t n) {
  auto fits = [n](std::uint32_t last) { return n == last + 1 || (n == last && n > 0); };
  if (auto last = lock.last(); last && fits(*last)) return {};
  auto last = static_cast<std::uint32_t>(TRY(staged(backend, handle)).size());
  if (fits(last)) return {};
  return fail(Code::invalid, "part {} is out of order: the next part is {}", n, last + 1);
}

Result<PutPartResult> ChunkedUploads::put_part(const Principal& principal, std::string_view handle,
                                               std::int64_t n, const Payload& part,
                                               std::string_view content_digest, Sequence sequence) {
  auto request = TRY(open_part(principal, handle, n, part.bytes.size()));
  return put_part(principal, request, part, content_digest, sequence);
}

Result<PutPartResult> ChunkedUploads::put_part(const Principal& principal, const PartRequest& request,
                                               const Payload& part, std::string_view content_digest,
                                               Sequence sequence) {
  const auto& [handle, n] = request;
  TRY(check_length(handle, n, part.bytes.size()));
  auto sha256 = part.sha256.empty() ? crypto::sha256(part.bytes) : std::string(part.sha256);
  TRY(check_content_digest(content_digest, sha256));
  auto backend = TRY(store_of(principal, handle));
  if (sequence == Sequence::parallel) {
    TRY(check_open(handle));
    return stage(backend, handle, n, {part.bytes, sha256});
  }
  auto lock = TRY(sequencer_.acquire(handle.id, kUploadLockTimeout));
  TRY(check_open(handle));
  TRY(check_in_order(backend, handle, lock, n));
  auto answer = stage(backend, handle, n, {part.bytes, sha256});
  answer ? lock.set_staged(n, answer->ref) : lock.forget(n);
  return answer;
}

Result<PutPartResult> ChunkedUploads::stage(const OpenBackend& backend, const Handle& handle, std::uint32_t n,
                                            const Payload& part) {
  auto ref = TRY(as_lost_upload(backend.store->put_part(handle.ref, n, part, n == part_count(handle.size))));
  StagedRef sealed{n, ref, std::string(part.sha256), deps_.rules.marks_of(handle, n, part.bytes)};
  return PutPartResult{n, seal_part_ref(key_, handle.id, sealed), part.bytes.size(),
                       deps_.rules.findings(backend, handle, n, part.bytes)};
}

Result<UploadStatus> ChunkedUploads::status(const Principal& principal, std::string_view text) {
  auto handle = TRY(unseal_handle(principal, text));
  TRY(check_open(handle));
  auto backend = TRY(store_of(principal, handle));
  UploadStatus status{backend.display_id(),           handle.name, handle.size, {}, {},
                      handle.issued + kHandleLifetime};
  for (const auto& part : TRY(staged(backend, handle))) status.staged.push_back(part.n);
  status.refs = sequencer_.recent_refs(handle.id);
  std::erase_if(status.refs, [&](const auto& each) { return each.first > status.staged.size(); });
  return status;
}

Result<CommitResult> ChunkedUploads::commit(const Principal& principal, std::string_view text,
                                            const Json& parts) {
  auto handle = TRY(unseal_handle(principal, text));
  auto backend = TRY(store_of(principal, handle));
  TRY(deps_.rules.check_name(principal, backend, handle.name));
  auto lock = TRY(sequencer_.acquire(handle.id, kUploadLockTimeout));
  auto how = TRY(find_closed(handle));
  // The response to an earlier commit may have been lost; repeating it changes nothing.
  if (how && *how == UploadOutcome::committed) {
    auto object = TRY(backend.store->head(backend.key_of(handle.name)));
    auto digest = TRY(db::read<std::string>(deps_.sql, [&](db::Transaction& tx) {
      return recorded_digest(tx, handle.place, deps_.rules.record_name(handle.name), object);
    }));
    return CommitResult{backend.display_id(), handle.name, handle.size, digest};
  }
  TRY(check_open(handle));
  return commit_open(principal, backend, handle, parts);
}

// A process that ended between the store's commit and our record of it left an upload that the store no
// longer has. The store recognises its object by the parts whose refs the client got.
Result<std::vector<StagedPart>> ChunkedUploads::staged_or_acknowledged(const OpenBackend& backend,
                                                                       const Handle& handle,
                                                                       const CommitList& list) {
  auto listed = staged(backend, handle);
  bool is_answered = std::ranges::all_of(list, [](const auto& part) { return part.has_value(); });
  if (listed || listed.error().code != Code::invalid || !is_answered) return listed;
  std::vector<StagedPart> parts;
  for (const auto& part : list)
    parts.push_back({part->n, part_length(handle.size, part->n), part->store_ref});
  return parts;
}

// obj_cloud2 has one id for all bytes that were sent under a part's number.
Result<void> ChunkedUploads::check_latest(const Handle& handle, const CommitList& list) {
  for (const auto& [n, text] : sequencer_.recent_refs(handle.id)) {
    auto latest = TRY(open_part_ref(key_, handle.id, text));
    const auto& sent = list.at(n - 1);
    if (sent && sent->store_ref == latest.store_ref && sent->sha256 != latest.sha256) return replaced_part(n);
  }
  return {};
}

Result<CommitResult> ChunkedUploads::commit_open(const Principal& principal, const OpenBackend& backend,
                                                 const Handle& handle, const Json& parts) {
  auto list = TRY(read_commit_list(key_, handle, parts));
  TRY(deps_.rules.check_parts(handle, list));
  auto staged_parts = TRY(staged_or_acknowledged(backend, handle, list));
  if (staged_parts.size() < part_count(handle.size))
    return fail(Code::invalid, "part {} is missing in the store; send it, then commit again",
                staged_parts.size() + 1);
  TRY(check_against_store(list, staged_parts));
  TRY(check_latest(handle, list));
  fill_refs(list, staged_parts);
  auto digest = digest_of(list);
  auto object = TRY(as_lost_upload(backend.store->commit(handle.ref, staged_parts, {digest, false})));
  if (object.size != handle.size)
    return fail(Code::integrity, "the store has {} bytes for {}, which has {}; upload it again", object.size,
                handle.name, handle.size);
  TRY(record(principal, backend, handle, object, digest));
  return CommitResult{backend.display_id(), handle.name, handle.size, digest};
}

Result<void> ChunkedUploads::record(const Principal& principal, const OpenBackend& backend,
                                    const Handle& handle, const Object& object, const std::string& digest) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(close_upload(tx, handle.id, UploadOutcome::committed, handle.issued + kHandleLifetime,
                     deps_.clock.now()));
    TRY(record_digest(tx, handle.place, deps_.rules.record_name(handle.name), object.etag, digest));
    OrderedJson details{
        {"backend", backend.id()}, {"lane", "chunked"}, {"size", handle.size}, {"digest", digest}};
    auto action = std::string(deps_.rules.audit_action());
    TRY(deps_.audit.append(tx, audit::make_event(principal, action, handle.name, std::move(details))));
    return {};
  });
}

Result<AbortResult> ChunkedUploads::abort(const Principal& principal, std::string_view text) {
  auto handle = unseal_handle(principal, text);
  if (!handle) return AbortResult{false, handle.error().message};
  auto lock = sequencer_.acquire(handle->id, kUploadLockTimeout);
  if (!lock) return AbortResult{false, lock.error().message};
  if (auto how = TRY(find_closed(*handle)))
    return *how == UploadOutcome::committed
               ? AbortResult{false, "the upload was committed; delete the asset instead"}
               : AbortResult{true, ""};
  TRY(deps_.sql.write([&](db::Transaction& tx) {
    return close_upload(tx, handle->id, UploadOutcome::aborted, handle->issued + kHandleLifetime,
                        deps_.clock.now());
  }));
  auto backend = deps_.rules.open(principal, handle->backend);
  if (!backend) return AbortResult{false, backend.error().message};
  if (backend->store->place() != handle->place)
    return AbortResult{false, "the backend's settings changed since this upload began"};
  auto done = backend->store->abort(handle->ref);
  if (!done && done.error().code != Code::not_found) return AbortResult{false, done.error().message};
  return AbortResult{true, ""};
}

OrderedJson to_json(const BeginResult& begun) {
  return {{"handle", begun.handle},    {"backend", begun.backend}, {"filename", begun.filename},
          {"total_bytes", begun.size}, {"part_bytes", kPartBytes}, {"parts", part_count(begun.size)}};
}

OrderedJson to_json(const PutPartResult& part) {
  return {{"ok", true},
          {"part", part.n},
          {"ref", part.ref},
          {"bytes", part.bytes},
          {"secret_findings", to_json(part.findings)}};
}

OrderedJson to_json(const UploadStatus& status) {
  auto refs = OrderedJson::array();
  for (const auto& [n, ref] : status.refs) refs.push_back({{"part", n}, {"ref", ref}});
  return {{"backend", status.backend},
          {"filename", status.filename},
          {"total_bytes", status.size},
          {"part_bytes", kPartBytes},
          {"parts", part_count(status.size)},
          {"staged", status.staged},
          {"refs", refs},
          {"expires_at", format_iso(status.expires)}};
}

OrderedJson to_json(const CommitResult& done) {
  return {{"ok", true},
          {"filename", done.filename},
          {"backend", done.backend},
          {"size", done.size},
          {"parts", part_count(done.size)},
          {"digest", done.digest.empty() ? OrderedJson(nullptr) : OrderedJson(done.digest)}};
}

OrderedJson to_json(const AbortResult& aborted) {
  OrderedJson json{{"ok", true}, {"aborted", aborted.aborted}};
  if (!aborted.aborted) json["detail"] = aborted.reason;
  return json;
}

}  // namespace dash::storage
