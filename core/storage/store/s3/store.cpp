#include "core/storage/store/s3/store.hpp"

#include "core/base/buffer_pool.hpp"
#include "core/base/text.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/endpoint.hpp"
#include "core/storage/store/http_object_store.hpp"
#include "core/storage/store/http_range.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/s3/client.hpp"
#include "core/storage/store/s3/codec.hpp"
#include "core/storage/store/s3/copy.hpp"
#include "core/storage/store/s3/errors.hpp"
#include "core/storage/store/s3/upload_ref.hpp"

namespace dash::storage::s3 {
namespace {

// docs.aws.amazon.com, "Amazon S3 multipart upload limits".
constexpr std::uint64_t kMaxParts = 10'000;
constexpr std::string_view kDigestHeader = "x-amz-meta-dashctl-digest";
constexpr std::string_view kContentType = "application/octet-stream";

// The key and the id that the next page begins after; empty: this is the last.
template <class Page>
std::string marker_of(const Page& page) {
  return page.next_key_marker.empty() ? "" : page.next_key_marker + '\n' + page.next_id_marker;
}

// Reads on in a list that is paged by pairs of markers.
template <class Page>
Result<void> turn_page(Page& page, Page next) {
  auto cursor = marker_of(page);
  TRY(advance_cursor(cursor, marker_of(next)));
  page = std::move(next);
  return {};
}

class S3Store final : public HttpObjectStore {
 public:
  S3Store(Client client, const Clock& clock) : client_(std::move(client)), clock_(clock) {}

  Capabilities capabilities() const override {
    return {.max_bytes = kMaxParts * kPartBytes,
            .is_parallel = true,
            .keeps_digest_on_put = true,
            .keeps_digest_on_commit = false,
            .copies_inside = true};
  }
  std::string place() const override { return address().place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    Query query{{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", std::string(prefix)}};
    if (!cursor.empty()) query.emplace_back("continuation-token", cursor);
    auto answer = TRY(call({.method = "GET", .query = std::move(query), .doing = "listing"}));
    return within(name(), read_list(answer.body));
  }

  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_key(key));
    net::Headers headers{{"Content-Type", std::string(kContentType)}};
    if (!options.digest.empty()) headers.add(std::string(kDigestHeader), options.digest);
    auto answer = call({.method = "PUT",
                        .key = key,
                        .headers = conditional(std::move(headers), options),
                        .body = payload.bytes,
                        .body_sha256 = payload.sha256,
                        .doing = fmt::format("writing '{}'", key)});
    if (!answer) return Failure(as_conflict(std::move(answer).error(), options));
    auto object = TRY(written_object(key, *answer, payload, options));
    object.modified = clock_.now();
    return object;
  }

  Result<void> remove(const std::string& key) override {
    TRY(head(key));  // DELETE returns the same for a missing object
    TRY(call({.method = "DELETE", .key = key, .doing = fmt::format("deleting '{}'", key)}));
    return {};
  }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    TRY(check_key(key));
    if (size.value_or(0) > kMaxParts * kPartBytes)
      return fail(Code::too_large, "{}: '{}' has more than {} parts of 8 MiB", name(), key, kMaxParts);
    auto answer = TRY(call({.method = "POST",
                            .key = key,
                            .query = {{"uploads", ""}},
                            .headers = {{"Content-Type", std::string(kContentType)}},
                            .doing = fmt::format("beginning the upload of '{}'", key)}));
    auto id = TRY(within(name(), read_upload_id(answer.body)));
    return write_upload_ref({key, std::move(id)});
  }

  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool) override {
    auto ref = TRY(read_upload_ref(upload));
    auto answer = TRY(call({.method = "PUT",
                            .key = ref.key,
                            .query = {{"partNumber", std::to_string(n)}, {"uploadId", ref.id}},
                            .body = payload.bytes,
                            .body_sha256 = payload.sha256,
                            .doing = fmt::format("sending part {} of '{}'", n, ref.key)}));
    auto etag = without_quotes(answer.headers.get("ETag").value_or(""));
    if (etag.empty())
      return fail(Code::upstream, "{}: part {} of '{}' came back without an etag", name(), n, ref.key);
    return etag;
  }

  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    auto ref = TRY(read_upload_ref(upload));
    std::vector<StagedPart> parts;
    std::string marker;
    do {
      Query query{{"uploadId", ref.id}, {"max-parts", "1000"}};
      if (!marker.empty()) query.emplace_back("part-number-marker", marker);
      auto answer = TRY(call({.method = "GET",
                              .key = ref.key,
                              .query = std::move(query),
                              .doing = fmt::format("listing the parts of '{}'", ref.key)}));
      auto page = TRY(within(name(), read_parts(answer.body)));
      std::ranges::move(page.parts, std::back_inserter(parts));
      TRY(advance_cursor(marker, std::move(page.next_marker)));
    } while (!marker.empty());
    return parts;
  }

  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    auto ref = TRY(read_upload_ref(upload));
    auto etag = complete(ref, parts, options);
    if (!etag && etag.error().code == Code::not_found)
      return find_committed(ref, parts, std::move(etag).error());
    if (!etag) return Failure(as_conflict(std::move(etag).error(), options));
    auto object = TRY(head(ref.key));
    if (object.etag == *etag && object.size != total_size(parts))
      return fail(Code::integrity, "{}: '{}' has {} bytes after its commit instead of {}; upload it again",
                  name(), ref.key, object.size, total_size(parts));
    return object;
  }

  Result<void> abort(const std::string& upload) override {
    auto ref = TRY(read_upload_ref(upload));
    TRY(call({.method = "DELETE",
              .key = ref.key,
              .query = {{"uploadId", ref.id}},
              .doing = fmt::format("aborting the upload of '{}'", ref.key)}));
    return {};
  }

  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    std::vector<Leftover> found;
    UploadsPage page;
    do {
      TRY(turn_page(page, TRY(list_uploads(prefix, page))));
      for (const auto& upload : page.uploads) {
        if (upload.began >= older_than || !upload.key.starts_with(prefix)) continue;
        auto ref = write_upload_ref({upload.key, upload.id});
        auto parts = staged_parts(ref);
        if (!parts && parts.error().code == Code::not_found) continue;  // ended meanwhile
        auto bytes = total_size(TRY(std::move(parts)));
        found.push_back({upload.key, upload.began, bytes, ref});
      }
    } while (!page.next_key_marker.empty());
    return found;
  }
  Result<void> drop(const Leftover& leftover) override { return abort(leftover.upload); }

  // A bucket that never kept versions has none to list.
  Result<VersionsResult> versions(const std::string& key) override {
    auto status = call({.method = "GET", .query = {{"versioning", ""}}, .doing = "asking for versioning"});
    VersionsResult result{Versioning::unknown, {}};
    if (!status && status.error().code != Code::upstream) return Failure(std::move(status).error());
    auto has_versions = true;
    if (status) {
      auto state = TRY(within(name(), read_versioning(status->body)));
      result.versioning = state == "Enabled" ? Versioning::on : Versioning::off;
      has_versions = !state.empty();
    }
    if (has_versions && !key.empty()) result.versions = TRY(list_versions(key));
    return result;
  }

  Result<void> remove_unchanged(const Object& object) override {
    if (TRY(head(object.key)).etag != object.etag)
      return fail(Code::precondition, "{}: '{}' was replaced", name(), object.key);
    TRY(call({.method = "DELETE",
              .key = object.key,
              .headers = {{"If-Match", fmt::format("\"{}\"", object.etag)}},
              .doing = fmt::format("deleting '{}'", object.key)}));
    return {};
  }

  // A copy that may only create is made in parts too: servers know that condition of a commit.
  Result<Object> copy_inside(const InsideCopy& copy) override {
    TRY(check_key(copy.from.key));
    TRY(check_key(copy.to));
    if (copy.from.size <= kMaxCopyBytes && !copy.only_if_absent) {
      TRY(copy_whole(client_, copy));
      TRY(copy.report(copy.from.size));
      return head(copy.to);
    }
    auto upload = TRY(begin(copy.to, copy.from.size));
    auto parts = copy_parts(client_, TRY(read_upload_ref(upload)), copy);
    auto made = parts ? commit(upload, *parts, {.digest = "", .only_if_absent = copy.only_if_absent})
                      : Result<Object>(Failure(std::move(parts).error()));
    if (!made) std::ignore = abort(upload);  // the sweep drops what is left
    return made;
  }

 private:
  std::string name() const { return client_.name(); }

  Object describe(const std::string& key, const net::HttpResponse& answer) const override {
    auto object = describe_by_headers(key, answer, kDigestHeader);
    object.etag = without_quotes(object.etag);
    return object;
  }

  Result<net::HttpResponse> send_head(const std::string& key) override {
    return call({.method = "HEAD", .key = key, .doing = fmt::format("looking up '{}'", key)});
  }

  Result<net::HttpResponse> send_get(const std::string& key, ByteRange range, std::string_view must_match,
                                     Sink& body) override {
    net::Headers headers{{"Range", range_header(range)}};
    if (!must_match.empty()) headers.add("If-Match", fmt::format("\"{}\"", must_match));
    return call({.method = "GET",
                 .key = key,
                 .headers = std::move(headers),
                 .body_sink = &body,
                 .doing = fmt::format("reading '{}'", key)});
  }

  static net::Headers conditional(net::Headers headers, const PutOptions& options) {
    if (options.only_if_absent) headers.add("If-None-Match", "*");
    return headers;
  }
  static Error as_conflict(Error error, const PutOptions& options) {
    if (options.only_if_absent && error.code == Code::precondition) error.code = Code::conflict;
    return error;
  }

  // Returns the new object's etag.
  Result<std::string> complete(const UploadRef& ref, const std::vector<StagedPart>& parts,
                               const PutOptions& options) {
    auto doing = fmt::format("committing '{}'", ref.key);
    auto body = write_complete(parts);
    auto answer = TRY(call({.method = "POST",
                            .key = ref.key,
                            .query = {{"uploadId", ref.id}},
                            .headers = conditional({{"Content-Type", "application/xml"}}, options),
                            .body = body,
                            .idle_timeout = kAssembleTimeout,
                            .doing = doing}));
    auto result = TRY(within(name(), read_completion(answer.body)));
    if (result.refusal) return Failure(error_in_body(*result.refusal, client_.where(doing)));
    return result.etag;
  }

  // The upload is gone: a commit with a lost answer, when the object is the one that these parts make.
  Result<Object> find_committed(const UploadRef& ref, const std::vector<StagedPart>& parts, Error gone) {
    auto object = head(ref.key);
    if (object && object->etag == composed_etag(parts) && object->size == total_size(parts)) return object;
    return Failure(std::move(gone));
  }

  // The key comes before every other one that begins with it.
  Result<std::vector<ObjectVersion>> list_versions(const std::string& key) {
    TRY(check_key(key));
    std::vector<ObjectVersion> found;
    VersionsPage page;
    do {
      Query query{{"versions", ""}, {"encoding-type", "url"}, {"prefix", key}};
      if (!page.next_key_marker.empty()) {
        query.emplace_back("key-marker", page.next_key_marker);
        query.emplace_back("version-id-marker", page.next_id_marker);
      }
      auto doing = fmt::format("listing the versions of '{}'", key);
      auto answer = TRY(call({.method = "GET", .query = std::move(query), .doing = doing}));
      TRY(turn_page(page, TRY(within(name(), read_versions(answer.body, key)))));
      std::ranges::move(page.versions, std::back_inserter(found));
    } while (page.next_key_marker == key);
    return found;
  }

  Result<UploadsPage> list_uploads(std::string_view prefix, const UploadsPage& after) {
    Query query{{"uploads", ""}, {"encoding-type", "url"}, {"prefix", std::string(prefix)}};
    if (!after.next_key_marker.empty()) {
      query.emplace_back("key-marker", after.next_key_marker);
      query.emplace_back("upload-id-marker", after.next_id_marker);
    }
    auto answer = TRY(call({.method = "GET", .query = std::move(query), .doing = "listing open uploads"}));
    TRY(check_clock_skew(answer.headers, clock_.now()));
    return within(name(), read_uploads(answer.body));
  }

  Result<net::HttpResponse> call(const Call& what) { return client_.call(what); }
  const Address& address() const { return client_.address(); }

  Client client_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_s3(const config::Values& values, net::HttpClient& http,
                                             const Clock& clock) {
  auto address = TRY(read_address(values));
  Credentials credentials{setting(values, "cloud1_access_key_id"),
                          Secret(setting(values, "cloud1_secret_access_key"))};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty())
    return fail(Code::invalid,
                "obj_cloud1 needs cloud1_access_key_id and cloud1_secret_access_key: set both");
  return std::make_unique<S3Store>(Client(std::move(address), std::move(credentials), http, clock), clock);
}

}  // namespace dash::storage::s3
