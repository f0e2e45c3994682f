#include "core/storage/upload/lane.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/store/names.hpp"
#include "core/storage/store/plan.hpp"
#include "core/storage/upload/commit_list.hpp"
#include "core/storage/upload/content_digest.hpp"
#include "core/storage/upload/part_ref.hpp"

namespace dash::storage {
namespace {

// A part of 8 MiB at the daemon's floor of bytes per second takes longer, but then its client is gone.
constexpr std::chrono::seconds kTurnPatience{60};

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

// A store's "no such upload" is the client's mistake here: the upload was closed behind our back.
template <class T>
Result<T> for_upload(Result<T> result) {
  if (!result && result.error().code == Code::not_found)
    return fail(Code::invalid, "the store no longer has this upload; begin it again");
  return result;
}

}  // namespace

Result<Begun> Lane::begin(const Principal& who, const std::string& filename, std::int64_t size) {
  auto values = TRY(seams_.stores.values());
  if (!active_backend(values))
    return fail(Code::invalid,
                "No active storage backend. Configure one on /storage and select it as active.");
  auto at = TRY(seams_.stores.open(who, ""));
  if (!at.backend->is_chunked())
    return fail(Code::invalid, "'{}' has no chunked lane. {}", at.shown_id(), at.backend->limit_reason);
  TRY(check_upload_name(filename));
  if (size < 0) return fail(Code::invalid, "size must not be negative");
  TRY(check_chunked_size(static_cast<std::uint64_t>(size)));
  TRY(seams_.scopes.ask(who, at.id(), filename, Use::replace));
  Handle handle;
  handle.id = crypto::random_hex(16);
  handle.user = who.username;
  handle.backend = at.id();
  handle.place = at.store->place();
  handle.name = filename;
  handle.size = static_cast<std::uint64_t>(size);
  handle.issued = seams_.clock.now();
  handle.ref = TRY(at.store->begin(at.key_of(filename), handle.size));
  TRY(order_.take(handle.id, kTurnPatience)).begun();
  return Begun{seal_handle(key_, handle), at.shown_id(), filename, handle.size};
}

Result<Handle> Lane::open_text(const Principal& who, std::string_view text) const {
  if (text.empty())
    return fail(Code::invalid, "the upload handle is missing: send it in the header X-Upload-Handle");
  return open_handle(key_, text, who.username, seams_.clock.now());
}

Result<void> Lane::admit_part(const Principal& who, std::string_view handle, std::int64_t n,
                              std::uint64_t declared_bytes) const {
  auto opened = TRY(open_text(who, handle));
  return check_length(opened, TRY(check_number(opened, n)), declared_bytes);
}

Result<Sequence> Lane::sequence(const Principal& who) {
  auto at = TRY(seams_.stores.open(who, ""));
  return at.store->capabilities().is_parallel ? Sequence::side_by_side : Sequence::in_order;
}

// The backend that the handle began on, if it still is what it was: active, and the same bucket.
Result<Opened> Lane::store_of(const Principal& who, const Handle& handle) {
  auto at = TRY(seams_.stores.open(who, handle.backend));
  if (!at.is_active || at.store->place() != handle.place)
    return fail(Code::invalid, "the active storage backend changed since this upload began; begin it again");
  return at;
}

Result<std::optional<Closed>> Lane::closed(const Handle& handle) {
  return db::read<std::optional<Closed>>(seams_.sql,
                                         [&](db::Transaction& tx) { return closed_upload(tx, handle.id); });
}

Result<void> Lane::require_open(const Handle& handle) {
  auto how = TRY(closed(handle));
  if (!how) return {};
  return fail(Code::invalid, "this upload was {}; begin a new one",
              *how == Closed::aborted ? "aborted" : "committed");
}

Result<std::vector<StagedPart>> Lane::staged(const Opened& at, const Handle& handle) {
  auto parts = TRY(for_upload(at.store->staged_parts(handle.ref)));
  std::ranges::sort(parts, {}, &StagedPart::n);
  std::size_t good = 0;
  while (good < parts.size() && good < part_count(handle.size) && parts[good].n == good + 1 &&
         parts[good].size == part_length(handle.size, parts[good].n))
    ++good;
  parts.resize(good);
  return parts;
}

Result<void> Lane::require_turn(const Opened& at, const Handle& handle, const Order::Turn& turn,
                                std::uint32_t n) {
  auto fits = [n](std::uint32_t last) { return n == last + 1 || (n == last && n > 0); };
  if (auto last = turn.last(); last && fits(*last)) return {};
  auto last = static_cast<std::uint32_t>(TRY(staged(at, handle)).size());
  if (fits(last)) return {};
  return fail(Code::invalid, "part {} is out of order: the next part is {}", n, last + 1);
}

Result<StagedAnswer> Lane::put_part(const Principal& who, std::string_view text, std::int64_t number,
                                    const Payload& part, std::string_view content_digest, Sequence sequence) {
  auto handle = TRY(open_text(who, text));
  auto n = TRY(check_number(handle, number));
  TRY(check_length(handle, n, part.bytes.size()));
  auto sha256 = part.sha256.empty() ? crypto::sha256(part.bytes) : std::string(part.sha256);
  TRY(check_content_digest(content_digest, sha256));
  auto at = TRY(store_of(who, handle));
  if (sequence == Sequence::side_by_side) {
    TRY(require_open(handle));
    return stage(at, handle, n, {part.bytes, sha256});
  }
  auto turn = TRY(order_.take(handle.id, kTurnPatience));
  TRY(require_open(handle));
  TRY(require_turn(at, handle, turn, n));
  auto answer = stage(at, handle, n, {part.bytes, sha256});
  answer ? turn.staged(n, answer->ref) : turn.forget(n);
  return answer;
}

Result<StagedAnswer> Lane::stage(const Opened& at, const Handle& handle, std::uint32_t n,
                                 const Payload& part) {
  auto ref = TRY(for_upload(at.store->put_part(handle.ref, n, part, n == part_count(handle.size))));
  StagedAnswer answer{
      n, seal_part_ref(key_, handle.id, {n, ref, std::string(part.sha256)}), part.bytes.size(), {}};
  if (n == 1 && at.scans_secrets) answer.findings = scan_for_secrets(handle.name, part.bytes);
  return answer;
}

Result<UploadStatus> Lane::status(const Principal& who, std::string_view text) {
  auto handle = TRY(open_text(who, text));
  TRY(require_open(handle));
  auto at = TRY(store_of(who, handle));
  UploadStatus status{at.shown_id(), handle.name, handle.size, {}, {}, handle.issued + kHandleLifetime};
  for (const auto& part : TRY(staged(at, handle))) status.staged.push_back(part.n);
  status.refs = order_.recent_refs(handle.id);
  std::erase_if(status.refs, [&](const auto& each) { return each.first > status.staged.size(); });
  return status;
}

Result<Committed> Lane::commit(const Principal& who, std::string_view text, const Json& parts) {
  auto handle = TRY(open_text(who, text));
  auto at = TRY(store_of(who, handle));
  TRY(check_upload_name(handle.name));
  TRY(seams_.scopes.ask(who, at.id(), handle.name, Use::replace));
  auto turn = TRY(order_.take(handle.id, kTurnPatience));
  auto how = TRY(closed(handle));
  // The answer to an earlier commit may have been lost; saying it again changes nothing.
  if (how && *how == Closed::committed) {
    auto object = TRY(at.store->head(at.key_of(handle.name)));
    auto digest = TRY(db::read<std::string>(seams_.sql, [&](db::Transaction& tx) {
      return known_digest(tx, handle.place, handle.name, object);
    }));
    return Committed{at.shown_id(), handle.name, handle.size, digest};
  }
  TRY(require_open(handle));
  return commit_open(who, at, handle, parts);
}

// A process that ended between the store's commit and our record of it left an upload that the store no
// longer has; the store knows its object again by the parts that the client was answered.
Result<std::vector<StagedPart>> Lane::staged_or_answered(const Opened& at, const Handle& handle,
                                                         const CommitList& list) {
  auto there = staged(at, handle);
  bool is_answered = std::ranges::all_of(list, [](const auto& part) { return part.has_value(); });
  if (there || there.error().code != Code::invalid || !is_answered) return there;
  std::vector<StagedPart> parts;
  for (const auto& part : list)
    parts.push_back({part->n, part_length(handle.size, part->n), part->store_ref});
  return parts;
}

Result<Committed> Lane::commit_open(const Principal& who, const Opened& at, const Handle& handle,
                                    const Json& parts) {
  auto list = TRY(read_commit_list(key_, handle, parts));
  auto staged_parts = TRY(staged_or_answered(at, handle, list));
  if (staged_parts.size() < part_count(handle.size))
    return fail(Code::invalid, "part {} is missing in the store; send it, then commit again",
                staged_parts.size() + 1);
  TRY(check_against_store(list, staged_parts));
  fill_refs(list, staged_parts);
  auto digest = digest_of(list);
  auto object = TRY(for_upload(at.store->commit(handle.ref, staged_parts, {digest, false})));
  if (object.size != handle.size)
    return fail(Code::integrity, "the store made {} bytes of {}'s {}; upload it again", object.size,
                handle.name, handle.size);
  TRY(record(who, at, handle, object, digest));
  return Committed{at.shown_id(), handle.name, handle.size, digest};
}

Result<void> Lane::record(const Principal& who, const Opened& at, const Handle& handle, const Object& object,
                          const std::string& digest) {
  return seams_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(close_upload(tx, handle.id, Closed::committed, handle.issued + kHandleLifetime, seams_.clock.now()));
    TRY(remember_digest(tx, handle.place, handle.name, object.etag, digest));
    OrderedJson details{{"backend", at.id()}, {"lane", "chunked"}, {"size", handle.size}, {"digest", digest}};
    TRY(seams_.audit.append(tx, audit::by(who, "storage.upload", handle.name, std::move(details))));
    return {};
  });
}

Result<Aborted> Lane::abort(const Principal& who, std::string_view text) {
  auto handle = open_text(who, text);
  if (!handle) return Aborted{false, handle.error().message};
  auto turn = order_.take(handle->id, kTurnPatience);
  if (!turn) return Aborted{false, turn.error().message};
  if (auto how = TRY(closed(*handle)))
    return *how == Closed::committed ? Aborted{false, "the upload was committed; delete the asset instead"}
                                     : Aborted{true, ""};
  TRY(seams_.sql.write([&](db::Transaction& tx) {
    return close_upload(tx, handle->id, Closed::aborted, handle->issued + kHandleLifetime,
                        seams_.clock.now());
  }));
  auto at = seams_.stores.open(who, handle->backend);
  if (!at) return Aborted{false, at.error().message};
  if (at->store->place() != handle->place)
    return Aborted{false, "the backend's settings changed since this upload began"};
  auto done = at->store->abort(handle->ref);
  if (!done && done.error().code != Code::not_found) return Aborted{false, done.error().message};
  return Aborted{true, ""};
}

OrderedJson to_json(const Begun& begun) {
  return {{"handle", begun.handle},    {"backend", begun.backend}, {"filename", begun.filename},
          {"total_bytes", begun.size}, {"part_bytes", kPartBytes}, {"parts", part_count(begun.size)}};
}

OrderedJson to_json(const StagedAnswer& part) {
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

OrderedJson to_json(const Committed& done) {
  return {{"ok", true},
          {"filename", done.filename},
          {"backend", done.backend},
          {"size", done.size},
          {"parts", part_count(done.size)},
          {"digest", done.digest.empty() ? OrderedJson(nullptr) : OrderedJson(done.digest)}};
}

OrderedJson to_json(const Aborted& aborted) {
  OrderedJson json{{"ok", true}, {"aborted", aborted.aborted}};
  if (!aborted.aborted) json["detail"] = aborted.why_not;
  return json;
}

}  // namespace dash::storage
