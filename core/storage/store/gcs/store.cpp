#include "core/storage/store/gcs/store.hpp"

#include "core/base/buffer_pool.hpp"
#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/gcs/codec.hpp"
#include "core/storage/store/gcs/part_sum.hpp"
#include "core/storage/store/gcs/rewrite.hpp"
#include "core/storage/store/gcs/session.hpp"
#include "core/storage/store/gcs/versions.hpp"
#include "core/storage/store/http_range.hpp"
#include "core/storage/store/key.hpp"

namespace dash::storage::gcs {
namespace {

// Up to this size an object is sent in one request with its metadata, at the price of a copy in memory.
constexpr std::size_t kOneRequest = kQuantum;
constexpr std::uint64_t kMaxObject = 5ull << 40;  // 5 TiB (cloud.google.com, Quotas & limits)

// The result of begin(): three lines. Keys have no control characters.
struct Upload {
  std::string id;  // 32 hex digits, random
  std::string session;
  std::string key;
  std::string staging() const { return std::string(kStagingPrefix) + id; }
  std::string text() const { return id + "\n" + session + "\n" + key; }
};
Result<Upload> read_upload(const std::string& text) {
  auto first = text.find('\n');
  auto second = first == text.npos ? first : text.find('\n', first + 1);
  if (second == text.npos) return fail(Code::not_found, "this is not an upload of Google Cloud Storage");
  return Upload{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

Object to_object(StoredObject stored) {
  return {std::move(stored.name), stored.size, std::move(stored.generation), stored.updated,
          std::move(stored.digest)};
}

class GcsStore final : public ObjectStore {
 public:
  GcsStore(Client client, const Clock& clock) : client_(std::move(client)), clock_(clock) {}

  Capabilities capabilities() const override {
    return {.max_bytes = kMaxObject,
            .is_parallel = false,
            .keeps_digest_on_put = true,
            .keeps_digest_on_commit = true,
            .copies_inside = true};
  }
  std::string place() const override { return client_.place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    auto page = TRY(parse_list(TRY(request_list(prefix, cursor)).body));
    std::erase_if(page.objects,
                  [](const StoredObject& object) { return object.name.starts_with(kStagingPrefix); });
    ObjectPage out{{}, std::move(page.next_page_token)};
    for (auto& object : page.objects) out.objects.push_back(to_object(std::move(object)));
    return out;
  }

  Result<Object> head(const std::string& key) override {
    TRY(check_key(key));
    return to_object(TRY(find(key)));
  }

  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    TRY(check_key(key));
    net::RangeSink sink(out, range.size, place());
    auto condition =
        must_match.empty() ? "" : fmt::format("&ifGenerationMatch={}", net::percent_encode(must_match));
    // Accept-Encoding: a compressed object must arrive as it is stored.
    auto response = client_.execute({.what = "reading " + key,
                                     .target = object_target(key) + "?alt=media" + condition,
                                     .headers = {{"Range", range_header(range)}, {"Accept-Encoding", "gzip"}},
                                     .body_sink = &sink});
    return range_bytes(response, range.offset, place());
  }

  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_key(key));
    auto md5 = crypto::to_base64(crypto::md5(payload.bytes));
    auto body = object_body(key, options.digest, "", md5);
    auto made = payload.bytes.size() <= kOneRequest ? put_single(key, payload.bytes, body, options)
                                                    : put_by_session(key, payload.bytes, body, options);
    return as_conflict(key, options, std::move(made));
  }

  Result<void> remove(const std::string& key) override {
    TRY(check_key(key));
    TRY(client_.execute({.what = "deleting " + key, .method = "DELETE", .target = object_target(key)}));
    return {};
  }
  Result<VersionsResult> versions(const std::string& key) override { return find_versions(client_, key); }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t>) override {
    TRY(check_key(key));
    Upload upload{crypto::random_hex(16), "", key};
    upload.session =
        TRY(begin_session(client_, "beginning " + key, "name=" + net::percent_encode(upload.staging()),
                          object_body("", "", "", "")));
    return upload.text();
  }

  Result<std::string> put_part(const std::string& text, std::uint32_t n, const Payload& payload,
                               bool is_last) override {
    auto upload = TRY(read_upload(text));
    auto offset = std::uint64_t{n - 1} * kPartBytes;
    auto total = is_last ? std::optional(offset + payload.bytes.size()) : std::nullopt;
    TRY(send_bytes(client_, fmt::format("writing part {} of {}", n, upload.key), upload.session, offset,
                   payload.bytes, total));
    return part_ref(payload.bytes);
  }

  Result<std::vector<StagedPart>> staged_parts(const std::string& text) override {
    auto upload = TRY(read_upload(text));
    auto state = TRY(query_state(client_, "asking for the parts of " + upload.key, upload.session));
    // The session of an object that an abort or a commit removed still reports it.
    if (state.object) TRY(find(upload.staging()));
    std::vector<StagedPart> parts;
    std::uint64_t left = state.received;
    for (std::uint32_t n = 1; left >= kPartBytes; ++n, left -= kPartBytes)
      parts.push_back({n, kPartBytes, ""});
    // The stored bytes of an incomplete part are no part yet; of a finished object they are the last one.
    if (state.object && (left > 0 || parts.empty()))
      parts.push_back({static_cast<std::uint32_t>(parts.size() + 1), left, ""});
    return parts;
  }

  Result<Object> commit(const std::string& text, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    auto upload = TRY(read_upload(text));
    auto staged = find(upload.staging());
    if (!staged && staged.error().code == Code::not_found)
      return find_committed(upload, std::move(staged).error());
    if (!staged) return Failure(std::move(staged).error());
    std::uint64_t promised = 0;
    for (const auto& part : parts) promised += part.size;
    if (staged->size != promised)
      return fail(Code::integrity, "{}: the upload of {} has {} bytes where its parts have {}", place(),
                  upload.key, staged->size, promised);
    if (auto sum = expected_crc32c(parts); sum && *sum != staged->crc32c)
      return fail(Code::integrity, "{}: what the store has of {} is not what was sent; upload it again",
                  place(), upload.key);
    auto body = object_body("", options.digest, upload.id, "");
    InsideCopy copy{to_object(*staged), "", upload.key, options.only_if_absent};
    auto made = as_conflict(upload.key, options, copied(copy, body));
    if (!made && made.error().code == Code::conflict) made = find_committed(upload, std::move(made).error());
    if (!made) return made;
    drop_staging(upload.staging());
    return made;
  }

  // The session may be open, or an object by now.
  Result<void> abort(const std::string& text) override {
    auto upload = TRY(read_upload(text));
    bool was_open = TRY(cancel_session(client_, "aborting " + upload.key, upload.session));
    auto removed = remove(upload.staging());
    if (removed || (was_open && removed.error().code == Code::not_found)) return {};
    return removed;
  }

  // An open session cannot be listed and expires after a week. The object of a finished one stays.
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    std::vector<Leftover> found;
    if (prefix != kStagingPrefix) return found;
    for (std::string cursor;;) {
      auto answer = TRY(request_list(kStagingPrefix, cursor));
      TRY(check_clock_skew(answer.headers, clock_.now()));
      auto page = TRY(parse_list(answer.body));
      for (const auto& object : page.objects)
        if (object.updated < older_than && object.name.starts_with(kStagingPrefix))
          found.push_back({object.name, object.updated, object.size, object.generation});
      TRY(advance_cursor(cursor, std::move(page.next_page_token)));
      if (cursor.empty()) return found;
    }
  }
  Result<void> drop(const Leftover& leftover) override {
    TRY(client_.execute({.what = "deleting " + leftover.key,
                         .method = "DELETE",
                         .target = fmt::format("{}?ifGenerationMatch={}", object_target(leftover.key),
                                               net::percent_encode(leftover.upload))}));
    return {};
  }

  Result<void> remove_unchanged(const Object& object) override {
    return drop({object.key, object.modified, object.size, object.etag});
  }

  Result<Object> copy_inside(const InsideCopy& copy) override {
    TRY(check_key(copy.from.key));
    TRY(check_key(copy.to));
    return as_conflict(copy.to, {.digest = "", .only_if_absent = copy.only_if_absent},
                       copied(copy, object_body("", copy.from.digest, "", "")));
  }

 private:
  std::string bucket_target() const { return "/storage/v1/b/" + net::percent_encode(client_.bucket()); }
  std::string object_target(std::string_view key) const {
    return bucket_target() + "/o/" + net::percent_encode(key);
  }

  Result<net::HttpResponse> request_list(std::string_view prefix, std::string_view cursor) {
    auto target = fmt::format("{}/o?prefix={}&maxResults=1000", bucket_target(), net::percent_encode(prefix));
    if (!cursor.empty()) target += "&pageToken=" + net::percent_encode(cursor);
    return client_.execute({.what = "listing", .target = target});
  }

  Result<StoredObject> find(const std::string& key) {
    return parse_object(
        TRY(client_.execute({.what = "looking at " + key, .target = object_target(key)})).body);
  }

  static std::string_view condition(const PutOptions& options) {
    return options.only_if_absent ? "&ifGenerationMatch=0" : "";
  }
  // A failed condition is a conflict to the caller who set it.
  static Result<Object> as_conflict(const std::string& key, const PutOptions& options, Result<Object> made) {
    if (!made && options.only_if_absent && made.error().code == Code::precondition)
      return fail(Code::conflict, "the object '{}' already exists", key);
    return made;
  }

  Result<Object> put_single(const std::string& key, std::string_view bytes, const std::string& object_json,
                            const PutOptions& options) {
    auto body = multipart_body(object_json, bytes, "dashctl-" + crypto::random_hex(16));
    auto target = fmt::format("/upload{}/o?uploadType=multipart{}", bucket_target(), condition(options));
    auto response = TRY(client_.execute({.what = "writing " + key,
                                         .method = "POST",
                                         .target = target,
                                         .headers = {{"Content-Type", body.content_type}},
                                         .body = body.bytes}));
    return to_object(TRY(parse_object(response.body)));
  }

  Result<Object> put_by_session(const std::string& key, std::string_view bytes,
                                const std::string& object_json, const PutOptions& options) {
    auto what = "writing " + key;
    auto query = fmt::format("name={}{}", net::percent_encode(key), condition(options));
    auto session = TRY(begin_session(client_, what, query, object_json));
    auto state = TRY(send_bytes(client_, what, session, 0, bytes, bytes.size()));
    return to_object(*std::move(state.object));
  }

  Result<Object> copied(const InsideCopy& copy, const std::string& object_json) {
    return to_object(TRY(rewrite(client_, copy, object_json)));
  }

  // The object is complete. A staging object that stays is left to the sweep.
  void drop_staging(const std::string& key) {
    auto removed = remove(key);
    if (!removed)
      log::warning("storage.staging_object_left", {{"key", key}, {"error", removed.error().message}});
  }

  // The upload is gone: it was aborted, or an earlier commit succeeded and its answer was lost.
  Result<Object> find_committed(const Upload& upload, Error gone) {
    auto object = find(upload.key);
    if (!object || object->upload != upload.id) return Failure(std::move(gone));
    return to_object(*std::move(object));
  }

  Client client_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_gcs(const config::Values& values, net::HttpClient& http,
                                              const Clock& clock) {
  return std::make_unique<GcsStore>(TRY(open_client(values, http, clock)), clock);
}

}  // namespace dash::storage::gcs
