#include "core/storage/store/oci/store.hpp"

#include <algorithm>
#include <mutex>

#include "core/base/buffer_pool.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/endpoint.hpp"
#include "core/storage/store/http_object_store.hpp"
#include "core/storage/store/http_range.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/oci/client.hpp"
#include "core/storage/store/oci/codec.hpp"

namespace dash::storage::oci {
namespace {

constexpr std::string_view kDigestHeader = "opc-meta-dashctl-digest";
// Which upload made the object, so that a commit with a lost answer can be distinguished from one that never
// happened.
constexpr std::string_view kUploadHeader = "opc-meta-dashctl-upload";
constexpr std::uint64_t kMaxParts = 10'000;

// The result of begin(): "<mark>/<upload id>/<key>".
struct Upload {
  std::string mark;
  std::string id;
  std::string key;
  std::string text() const { return mark + "/" + id + "/" + key; }
};
Result<Upload> read_upload(const std::string& text) {
  auto first = text.find('/');
  auto second = first == text.npos ? first : text.find('/', first + 1);
  if (second == text.npos) return fail(Code::not_found, "this is not an upload of Oracle Object Storage");
  return Upload{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

class OciStore final : public HttpObjectStore {
 public:
  OciStore(Client client, const Clock& clock) : client_(std::move(client)), clock_(clock) {}

  Capabilities capabilities() const override {
    return {.max_bytes = kMaxParts * kPartBytes, .is_parallel = true, .keeps_digest_on_put = true};
  }
  std::string place() const override { return client_.place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    Query query{
        {"prefix", std::string(prefix)}, {"limit", "1000"}, {"fields", "name,size,etag,timeModified"}};
    if (!cursor.empty()) query.emplace_back("start", cursor);
    auto response = TRY(client_.execute({.what = "listing", .path = "/o", .query = query}));
    auto page = TRY(parse_list(response.body));
    ObjectPage out{{}, std::move(page.next_start)};
    for (auto& item : page.objects)
      out.objects.push_back({std::move(item.name), item.size, std::move(item.etag), item.modified, {}});
    return out;
  }

  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_key(key));
    Call call{
        .what = "writing " + key, .method = "PUT", .path = object_path("/o", key), .bytes = payload.bytes};
    if (options.only_if_absent) call.headers.add("if-none-match", "*");
    if (!options.digest.empty()) call.headers.add(std::string(kDigestHeader), options.digest);
    auto response = TRY(as_conflict(key, options, client_.execute(std::move(call))));
    return written_object(key, response, payload, options);
  }

  Result<void> remove(const std::string& key) override {
    TRY(check_key(key));
    TRY(client_.execute({.what = "deleting " + key, .method = "DELETE", .path = object_path("/o", key)}));
    return {};
  }

  Result<void> remove_unchanged(const Object& object) override {
    if (TRY(head(object.key)).etag != object.etag)
      return fail(Code::precondition, "{}: '{}' was replaced", place(), object.key);
    TRY(client_.execute({.what = "deleting " + object.key,
                         .method = "DELETE",
                         .path = object_path("/o", object.key),
                         .headers = {{"if-match", object.etag}}}));
    return {};
  }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t>) override {
    TRY(check_key(key));
    Upload upload{crypto::random_hex(16), "", key};
    auto body = create_upload_body(key, kUploadHeader, upload.mark);
    auto response =
        TRY(client_.execute({.what = "beginning " + key, .method = "POST", .path = "/u", .json = body}));
    upload.id = TRY(parse_upload_id(response.body));
    return upload.text();
  }

  Result<std::string> put_part(const std::string& text, std::uint32_t n, const Payload& payload,
                               bool) override {
    auto upload = TRY(read_upload(text));
    auto call = about("writing a part of ", "PUT", upload);
    call.query.emplace_back("uploadPartNum", std::to_string(n));
    call.bytes = payload.bytes;
    auto response = TRY(client_.execute(std::move(call)));
    return response.headers.get("ETag").value_or("");
  }

  Result<std::vector<StagedPart>> staged_parts(const std::string& text) override {
    auto upload = TRY(read_upload(text));
    std::vector<StagedPart> parts;
    for (std::string page;;) {
      auto call = about("listing the parts of ", "GET", upload);
      call.query.emplace_back("limit", "1000");
      if (!page.empty()) call.query.emplace_back("page", page);
      auto response = TRY(client_.execute(std::move(call)));
      for (auto& part : TRY(parse_parts(response.body)))
        parts.push_back({part.number, part.size, std::move(part.etag)});
      TRY(advance_cursor(page, response.headers.get("opc-next-page").value_or("")));
      if (page.empty()) return parts;
    }
  }

  Result<Object> commit(const std::string& text, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    auto upload = TRY(read_upload(text));
    std::vector<PartToCommit> chosen;
    for (const auto& part : parts) chosen.push_back({part.n, part.ref});
    auto body = commit_body(chosen);
    auto call = about("committing ", "POST", upload);
    call.json = body;
    if (options.only_if_absent) call.headers.add("if-none-match", "*");
    auto response = as_conflict(upload.key, options, client_.execute(std::move(call)));
    if (!response && response.error().code == Code::not_found)
      return find_committed(upload, std::move(response).error());
    TRY(std::move(response));
    return head(upload.key);
  }

  Result<void> abort(const std::string& text) override {
    TRY(client_.execute(about("aborting ", "DELETE", TRY(read_upload(text)))));
    return {};
  }

  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    std::vector<Leftover> found;
    for (std::string page;;) {
      Call call{.what = "listing uploads", .path = "/u", .query = {{"limit", "1000"}}};
      if (!page.empty()) call.query.emplace_back("page", page);
      auto response = TRY(client_.execute(std::move(call)));
      TRY(check_clock_skew(response.headers, clock_.now()));
      for (const auto& upload : TRY(parse_uploads(response.body))) {
        if (upload.created >= older_than || !upload.object.starts_with(prefix)) continue;
        auto text = Upload{"", upload.id, upload.object}.text();
        auto parts = staged_parts(text);
        if (!parts && parts.error().code == Code::not_found) continue;  // ended meanwhile
        Leftover leftover{upload.object, upload.created, 0, std::move(text)};
        for (const auto& part : TRY(std::move(parts))) leftover.bytes += part.size;
        found.push_back(std::move(leftover));
      }
      TRY(advance_cursor(page, response.headers.get("opc-next-page").value_or("")));
      if (page.empty()) return found;
    }
  }
  Result<void> drop(const Leftover& leftover) override { return abort(leftover.upload); }

  // A bucket that never kept versions has none to list.
  Result<VersionsResult> versions(const std::string& key) override {
    auto bucket = client_.execute({.what = "asking for versioning"});
    VersionsResult result{Versioning::unknown, {}};
    if (!bucket && bucket.error().code != Code::upstream) return Failure(std::move(bucket).error());
    std::string state = bucket ? TRY(parse_versioning(bucket->body)) : "";
    if (bucket) result.versioning = state == "Enabled" ? Versioning::on : Versioning::off;
    if (state != "Disabled" && !key.empty()) result.versions = TRY(list_versions(key));
    return result;
  }

 private:
  Result<std::vector<ObjectVersion>> list_versions(const std::string& key) {
    TRY(check_key(key));
    std::vector<ObjectVersion> found;
    for (std::string page;;) {
      Call call{.what = "listing the versions of " + key, .path = "/objectversions"};
      call.query = {{"prefix", key}, {"limit", "1000"}, {"fields", "name,size,timeModified"}};
      if (!page.empty()) call.query.emplace_back("page", page);
      auto response = TRY(client_.execute(std::move(call)));
      std::ranges::move(TRY(parse_versions(response.body, key)), std::back_inserter(found));
      TRY(advance_cursor(page, response.headers.get("opc-next-page").value_or("")));
      if (page.empty()) break;
    }
    std::ranges::stable_sort(found, std::greater(), &ObjectVersion::modified);
    if (!found.empty()) found[0].is_current = true;
    return found;
  }
  static Call about(std::string_view verb, std::string_view method, const Upload& upload) {
    return {.what = std::string(verb) + upload.key,
            .method = method,
            .path = object_path("/u", upload.key),
            .query = {{"uploadId", upload.id}}};
  }
  static std::string object_path(std::string_view kind, std::string_view key) {
    return fmt::format("{}/{}", kind, net::percent_encode(key, /*keep_slash=*/true));
  }
  Result<net::HttpResponse> send_get(const std::string& key, ByteRange range, std::string_view must_match,
                                     Sink& body) override {
    Call call{.what = "reading " + key, .path = object_path("/o", key), .body_sink = &body};
    call.headers.add("range", range_header(range));
    if (!must_match.empty()) call.headers.add("if-match", std::string(must_match));
    return client_.execute(std::move(call));
  }
  Result<net::HttpResponse> send_head(const std::string& key) override {
    return client_.execute({.what = "looking at " + key, .method = "HEAD", .path = object_path("/o", key)});
  }

  Object describe(const std::string& key, const net::HttpResponse& response) const override {
    return describe_by_headers(key, response, kDigestHeader);
  }

  // A failed If-None-Match is a conflict to the caller who set it.
  static Result<net::HttpResponse> as_conflict(const std::string& key, const PutOptions& options,
                                               Result<net::HttpResponse> response) {
    if (!response && options.only_if_absent && response.error().code == Code::precondition)
      return fail(Code::conflict, "the object '{}' already exists", key);
    return response;
  }

  // The upload is gone: it was aborted, or an earlier commit succeeded and its answer was lost.
  Result<Object> find_committed(const Upload& upload, Error gone) {
    auto response = send_head(upload.key);
    if (!response || response->headers.get(kUploadHeader) != upload.mark) return Failure(std::move(gone));
    return object_of(upload.key, *response);
  }

  Client client_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_oci(const config::Values& values, net::HttpClient& http,
                                              const Clock& clock) {
  return std::make_unique<OciStore>(TRY(open_client(values, http, clock)), clock);
}

}  // namespace dash::storage::oci
