#include "core/storage/store/azure_blob/store.hpp"

#include "core/base/buffer_pool.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/azure_blob/client.hpp"
#include "core/storage/store/azure_blob/codec.hpp"
#include "core/storage/store/azure_blob/container.hpp"
#include "core/storage/store/azure_blob/copy.hpp"
#include "core/storage/store/azure_blob/leases.hpp"
#include "core/storage/store/azure_blob/versions.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/endpoint.hpp"
#include "core/storage/store/http_object_store.hpp"
#include "core/storage/store/http_range.hpp"
#include "core/storage/store/key.hpp"

namespace dash::storage::azure_blob {
namespace {

constexpr std::uint64_t kMaxBlocks = 50'000;  // learn.microsoft.com, Put Block List

// The result of begin(): "<32 hex digits>/<key>".
struct Upload {
  std::string id;
  std::string key;
};
Result<Upload> read_upload(const std::string& text) {
  auto slash = text.find('/');
  if (slash == text.npos) return fail(Code::not_found, "this is not an upload of Azure Blob Storage");
  return Upload{text.substr(0, slash), text.substr(slash + 1)};
}

// A listing has the ETag without quotes, a header with them (RFC 9110 §8.8.3).
std::string unquoted(std::string etag) {
  std::erase(etag, '"');
  return etag;
}

class AzureBlobStore final : public HttpObjectStore {
 public:
  AzureBlobStore(Client client, const Clock& clock) : client_(std::move(client)), clock_(clock) {}

  Capabilities capabilities() const override {
    return {.max_bytes = kMaxBlocks * kPartBytes,
            .is_parallel = true,
            .keeps_digest_on_put = true,
            .keeps_digest_on_commit = true,
            .copies_inside = true,
            .drops_aborted = false};
  }
  std::string place() const override { return client_.place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    auto page = TRY(parse_list(TRY(request_list(client_, prefix, cursor, "metadata,copy")).body));
    ObjectPage out{{}, std::move(page.next_marker)};
    std::erase_if(page.blobs, [](const ListedBlob& blob) {
      return blob.digest == kSweptMark || !has_all_bytes(blob.copy_status);
    });
    for (auto& blob : page.blobs)
      out.objects.push_back({std::move(blob.name), blob.size, unquoted(std::move(blob.etag)), blob.modified,
                             std::move(blob.digest)});
    return out;
  }

  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_key(key));
    return written_object(key, TRY(put_blob(client_, key, payload.bytes, options)), payload, options);
  }

  Result<void> remove(const std::string& key) override {
    TRY(check_key(key));
    TRY(client_.execute({.what = "deleting " + key, .method = "DELETE", .key = key}));
    return {};
  }
  Result<VersionsResult> versions(const std::string& key) override { return find_versions(client_, key); }

  Result<void> remove_unchanged(const Object& object) override {
    TRY(check_key(object.key));
    auto removed = client_.execute({.what = "deleting " + object.key,
                                    .method = "DELETE",
                                    .key = object.key,
                                    .headers = {{"If-Match", fmt::format("\"{}\"", object.etag)}}});
    if (removed) return {};
    // The condition comes before the look whether there is a blob.
    if (removed.error().code == Code::precondition) TRY(head(object.key));
    return Failure(std::move(removed).error());
  }

  // A blob whose copy failed is shown to nobody, and is no reason to refuse another.
  Result<Object> copy_inside(const InsideCopy& copy) override {
    TRY(check_key(copy.from.key));
    TRY(check_key(copy.to));
    PutOptions options{.digest = "", .only_if_absent = copy.only_if_absent};
    auto begun = write_blob(client_, copy_call(client_, copy), options);
    if (!begun && begun.error().code == Code::conflict && TRY(drop_failed_copy(client_, copy.to)))
      begun = write_blob(client_, copy_call(client_, copy), options);
    TRY(finish_copy(client_, copy, TRY(std::move(begun))));
    return head(copy.to);
  }

  // The service has no record of an upload before its first block.
  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t>) override {
    TRY(check_key(key));
    return new_upload_id(clock_.now()) + "/" + key;
  }

  Result<std::string> put_part(const std::string& text, std::uint32_t n, const Payload& payload,
                               bool) override {
    auto upload = TRY(read_upload(text));
    Call call{.what = fmt::format("writing part {} of {}", n, upload.key),
              .method = "PUT",
              .key = upload.key,
              .body = payload.bytes};
    call.query = {{"comp", "block"}, {"blockid", block_id(upload.id, n)}};
    call.headers = {{"Content-MD5", crypto::to_base64(crypto::md5(payload.bytes))}};
    TRY(write_blob(client_, call, {}));
    return block_id(upload.id, n);
  }

  Result<std::vector<StagedPart>> staged_parts(const std::string& text) override {
    auto upload = TRY(read_upload(text));
    std::vector<StagedPart> parts;
    for (auto& block : TRY(uncommitted_blocks(client_, upload.key)))
      if (auto n = part_of(block.id, upload.id)) parts.push_back({*n, block.size, std::move(block.id)});
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.n < b.n; });
    return parts;
  }

  Result<Object> commit(const std::string& text, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    auto upload = TRY(read_upload(text));
    std::vector<std::string> ids;
    for (const auto& part : parts) ids.push_back(block_id(upload.id, part.n));
    auto body = block_list(ids);
    Call call{.what = "committing " + upload.key, .method = "PUT", .key = upload.key, .body = body};
    call.query = {{"comp", "blocklist"}};
    call.headers = {{"x-ms-blob-content-type", "application/octet-stream"}};
    call.headers.add(metadata(kUploadMetadata), upload.id);
    add_options(call, options);
    auto written = write_blob(client_, call, options);
    if (!written) return find_committed(upload, std::move(written).error());
    return head(upload.key);
  }

  // There is no call for it. Blocks are invisible, and an aborted handle is refused.
  Result<void> abort(const std::string& text) override {
    TRY(read_upload(text));
    return {};
  }

  Result<std::optional<std::string>> find_lease(const std::string& key) override {
    TRY(check_key(key));
    auto head = send_head(key);
    if (!head && head.error().code == Code::not_found) return std::nullopt;
    return lease_note(TRY(std::move(head)));
  }
  Result<void> take_lease(const std::string& key, const std::string& id, const std::string& note) override {
    TRY(check_key(key));
    return azure_blob::take_lease(client_, key, id, note);
  }
  Result<void> release_lease(const std::string& key, const std::string& id) override {
    TRY(check_key(key));
    return azure_blob::release_lease(client_, key, id);
  }

  // Blocks on top of a finished blob are not listed: the service drops them, a week after the last one or
  // with the next commit.
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    std::vector<Leftover> found;
    for (std::string cursor;;) {
      auto response = TRY(request_list(client_, prefix, cursor, "metadata,uncommittedblobs"));
      TRY(check_clock_skew(response.headers, clock_.now()));
      auto page = TRY(parse_list(response.body));
      for (const auto& blob : page.blobs)
        if (blob.size == 0 && blob.name.starts_with(prefix))
          if (auto leftover = TRY(find_leftover(blob, older_than))) found.push_back(*std::move(leftover));
      TRY(advance_cursor(cursor, std::move(page.next_marker)));
      if (cursor.empty()) return found;
    }
  }

  // The service drops blocks when a blob is written over them.
  Result<void> drop(const Leftover& leftover) override {
    auto etag = leftover.upload;
    if (etag.empty()) etag = TRY(write_over_blocks(leftover));
    Call call{.what = "deleting " + leftover.key, .method = "DELETE", .key = leftover.key};
    call.headers.add("If-Match", fmt::format("\"{}\"", etag));
    TRY(client_.execute(call));
    return {};
  }

 private:
  Result<void> check_unchanged(const Leftover& leftover) {
    if (total_size(TRY(uncommitted_blocks(client_, leftover.key))) == leftover.bytes) return {};
    return fail(Code::conflict, "'{}' was written since it was listed", leftover.key);
  }

  // Writes an empty blob with our mark over blocks that no blob has, and returns its etag. The emulator takes
  // blocks alone for a blob that exists, which HEAD does not.
  Result<std::string> write_over_blocks(const Leftover& leftover) {
    TRY(check_unchanged(leftover));
    PutOptions options{.digest = std::string(kSweptMark), .only_if_absent = true};
    auto written = put(leftover.key, "", options);
    if (written) return written->etag;
    if (written.error().code != Code::conflict || head(leftover.key)) return Failure(written.error());
    TRY(check_unchanged(leftover));
    options.only_if_absent = false;
    return TRY(put(leftover.key, "", options)).etag;
  }

  // Returns nullopt for a finished blob, and when any of its blocks is younger or of unknown age.
  Result<std::optional<Leftover>> find_leftover(const ListedBlob& blob, Time older_than) {
    std::optional<Leftover> none;
    Leftover leftover{blob.name, blob.modified, 0, ""};
    if (blob.digest == kSweptMark) {
      leftover.upload = unquoted(blob.etag);
      return blob.modified < older_than ? std::optional(std::move(leftover)) : none;
    }
    auto blocks = TRY(uncommitted_blocks(client_, blob.name));
    if (blocks.empty()) return none;
    auto finished = send_head(blob.name);
    if (finished) return none;
    if (finished.error().code != Code::not_found) return Failure(std::move(finished).error());
    leftover.bytes = total_size(blocks);
    auto first = Time::max(), last = Time::min();
    for (const auto& block : blocks) {
      auto began = began_at(block.id).value_or(blob.modified);
      if (began == Time{}) return none;
      first = std::min(first, began);
      last = std::max(last, began);
    }
    leftover.began = first;
    return last < older_than ? std::optional(std::move(leftover)) : none;
  }

  Result<net::HttpResponse> send_get(const std::string& key, ByteRange range, std::string_view must_match,
                                     Sink& body) override {
    Call call{.what = "reading " + key, .key = key, .body_sink = &body};
    call.headers.add("x-ms-range", range_header(range));
    if (!must_match.empty()) call.headers.add("If-Match", fmt::format("\"{}\"", must_match));
    return client_.execute(call);
  }
  Result<net::HttpResponse> send_head(const std::string& key) override {
    auto response = TRY(client_.execute({.what = "looking at " + key, .method = "HEAD", .key = key}));
    if (has_all_bytes(response.headers.get(kCopyStatus).value_or(""))) return response;
    return fail(Code::not_found, "{}: the copy to '{}' is not complete", place(), key);
  }

  Object describe(const std::string& key, const net::HttpResponse& response) const override {
    auto object = describe_by_headers(key, response, metadata(kDigestMetadata));
    object.etag = unquoted(std::move(object.etag));
    return object;
  }

  // The commit failed: either an earlier one succeeded and its answer was lost, or `error` is the reason.
  Result<Object> find_committed(const Upload& upload, Error error) {
    bool may_be_committed = error.code == Code::not_found || error.code == Code::conflict;
    auto response = may_be_committed ? send_head(upload.key) : Result<net::HttpResponse>(Failure(error));
    if (!response || response->headers.get(metadata(kUploadMetadata)) != upload.id)
      return Failure(std::move(error));
    return object_of(upload.key, *response);
  }

  Client client_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_azure_blob(const config::Values& values, net::HttpClient& http,
                                                     const Clock& clock) {
  return std::make_unique<AzureBlobStore>(TRY(open_client(values, http, clock)), clock);
}

}  // namespace dash::storage::azure_blob
