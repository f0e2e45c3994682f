#include <charconv>

#include "core/client/inline_request.hpp"
#include "core/client/job_follower.hpp"
#include "core/client/storage_client.hpp"
#include "core/net/http/range_sink.hpp"

namespace dash::client {
namespace {

// A part at 100 kbit/s takes eleven minutes. The low-speed limit of the HTTP client ends a dead transfer long
// before.
constexpr std::chrono::minutes kTransferDeadline{15};
// The instance copies, and responds when it is done.
constexpr std::chrono::hours kMigrationDeadline{24};

constexpr std::string_view kStates = "/api/storage/state";

// Requests the bytes of `range`; an empty range requests all of an empty asset.
Result<net::HttpResponse> send_range(net::ApiClient& api, const std::string& path, const std::string& tag,
                                     ByteRange range, RandomWriter& out) {
  net::RangeSink sink(out, range.size, api.url());
  net::HttpRequest request;
  request.url = path;
  if (range.size > 0) {
    request.headers.add("Range", fmt::format("bytes={}-{}", range.offset, range.end() - 1));
    request.body_sink = &sink;
  }
  if (!tag.empty()) request.headers.add("If-Match", tag);
  request.timeout = kTransferDeadline;
  return api.send(std::move(request));
}

class HttpAsset final : public OpenAsset {
 public:
  HttpAsset(net::ApiClient& api, std::string path, std::string tag, std::uint64_t size, std::string digest)
      : api_(api), path_(std::move(path)), tag_(std::move(tag)), size_(size), digest_(std::move(digest)) {}
  std::uint64_t size() const override { return size_; }
  const std::string& digest() const override { return digest_; }
  Result<void> read(ByteRange range, RandomWriter& out) override {
    auto answer = TRY(send_range(api_, path_, tag_, range, out));
    if (answer.status == 206 && answer.body_size == range.size) return {};
    return fail(Code::integrity, "the instance sent other bytes than were requested; fetch it again");
  }

 private:
  net::ApiClient& api_;
  std::string path_, tag_;
  std::uint64_t size_;
  std::string digest_;
};

class HttpStorageClient final : public StorageClient {
 public:
  explicit HttpStorageClient(net::ApiClient& api)
      : api_(api), follower_(api), uploads_(open_http_upload_client(api, api.url(), "/api/storage/upload")) {}
  std::string name() const override { return api_.url(); }

  Result<Json> backends() override { return api_.get("/api/storage/backends"); }
  Result<Json> list(const std::string& backend, const std::string& cursor) override {
    auto path = backend.empty() ? std::string("/api/storage/list")
                                : "/api/storage/list/" + net::percent_encode(backend);
    return api_.get(fmt::format("{}?cursor={}", path, net::percent_encode(cursor)));
  }
  Result<Json> remove(const std::string& name) override {
    auto path = "/api/storage/asset/" + net::percent_encode(name, true);
    return done(path, TRY(api_.remove(path)));
  }
  Result<Json> test(const std::string& backend, bool is_deep) override {
    Json body{{"backend", backend}};
    if (is_deep) body["deep"] = true;
    return post("/api/storage/test", body);
  }
  Result<Json> compare(const storage::CompareRequest& request, Progress&) override {
    Json body{{"source", request.source}, {"target", request.target}};
    if (request.is_download) body["download"] = true;
    return wait_for("/api/storage/verify", body);
  }
  Result<Json> sweep(const storage::SweepRequest& order) override {
    return wait_for(
        "/api/storage/gc",
        {{"backend", order.backend}, {"older_than_hours", order.age.count()}, {"apply", order.is_applied}});
  }
  Result<Json> migrate(const storage::MigrateRequest& request, Progress& progress) override;
  void stop_migration() override { follower_.cancel(); }

  Result<Json> states() override { return api_.get(kStates); }
  Result<Json> state(const std::string& job) override {
    return api_.get(fmt::format("{}/{}", kStates, net::percent_encode(job)));
  }
  Result<Json> state_history(const std::string& job) override {
    return api_.get(fmt::format("{}/{}/history", kStates, net::percent_encode(job)));
  }
  Result<Json> unlock_state(const std::string& job, const std::string& id) override {
    return api_.remove(
        fmt::format("{}/{}/lock?id={}", kStates, net::percent_encode(job), net::percent_encode(id)));
  }

  Result<Json> upload(const std::string& name, std::uint64_t size, Source& content) override {
    InlineRequest body(name, size, content);
    net::HttpRequest request;
    request.headers = {{"Content-Type", "application/json"}};
    request.body_source = &body;
    request.body_source_size = body.size();
    return done("/api/storage/upload", TRY(send("POST", "/api/storage/upload", std::move(request))));
  }

  UploadClient& uploads() override { return *uploads_; }

  Result<OpenAssetResult> open(const std::string& backend, const std::string& name,
                               std::span<char> first) override;

 private:
  // Checks that the instance confirms the change: a page that answers everything with 200 has changed
  // nothing.
  Result<Json> done(std::string_view path, Json answer) const {
    auto ok = answer.find("ok");
    if (ok == answer.end() || *ok != true) return api_.unexpected_response(path);
    return answer;
  }
  // With the timeout of a transfer.
  Result<Json> post(std::string path, const Json& json) {
    auto body = dump_json(json);
    net::HttpRequest request;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    return send("POST", std::move(path), std::move(request));
  }
  Result<Json> send(std::string method, std::string path, net::HttpRequest request) {
    request.method = std::move(method);
    request.url = std::move(path);
    request.timeout = kTransferDeadline;
    return parse_json(TRY(api_.send(std::move(request))).body);
  }
  // For requests on which the instance works long.
  Result<Json> wait_for(std::string path, const Json& order) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = std::move(path);
    request.headers = {{"Content-Type", "application/json"}};
    auto body = dump_json(order);
    request.body = body;
    request.timeout = kMigrationDeadline;
    request.idle_timeout = kMigrationDeadline;
    return parse_json(TRY(api_.send(std::move(request))).body);
  }
  net::ApiClient& api_;
  JobFollower follower_;  // of a migration
  std::unique_ptr<UploadClient> uploads_;
};

// Returns the size of the whole, from the response to a range request.
Result<std::uint64_t> whole_size(const net::HttpResponse& response) {
  if (response.status != 206) return response.body_size;
  auto range = response.headers.get("Content-Range").value_or("");
  auto text = std::string_view(range).substr(range.rfind('/') + 1);
  std::uint64_t size = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size()) return size;
  return fail(Code::upstream, "the instance sent a part without the size of the whole");
}

Result<OpenAssetResult> HttpStorageClient::open(const std::string& backend, const std::string& name,
                                                std::span<char> first) {
  auto path = fmt::format("/api/storage/fetch?raw=1&name={}&backend={}", net::percent_encode(name),
                          net::percent_encode(backend));
  SpanWriter out(first);
  auto answer = send_range(api_, path, "", {0, first.size()}, out);
  if (!answer && answer.error().code == Code::bad_range) answer = send_range(api_, path, "", {}, out);
  auto response = TRY(std::move(answer));
  // A page that answers everything with 200 is no asset.
  if (response.headers.get("Content-Type") != "application/octet-stream")
    return api_.unexpected_response("/api/storage/fetch");
  auto size = TRY(whole_size(response));
  return OpenAssetResult{
      std::make_unique<HttpAsset>(api_, path, response.headers.get("ETag").value_or(""), size,
                                  response.headers.get("X-Asset-Digest").value_or("")),
      response.body_size};
}

// An instance whose jobs nobody runs runs the migration only while its client waits.
Result<Json> HttpStorageClient::migrate(const storage::MigrateRequest& order, Progress& progress) {
  Json body{{"source", order.source},
            {"target", order.target},
            {"overwrite", order.overwrite},
            {"dry_run", order.is_dry_run}};
  if (order.bytes_per_second > 0) body["bwlimit"] = order.bytes_per_second;
  if (order.is_dry_run || !TRY(follower_.has_workers())) return wait_for("/api/storage/migrate", body);
  auto text = dump_json(body);
  net::HttpRequest request;
  request.method = "POST";
  request.url = "/api/storage/migrate";
  request.headers = {{"Content-Type", "application/json"}, {"Prefer", "respond-async"}};
  request.body = text;
  request.timeout = request.idle_timeout = kMigrationDeadline;
  auto answer = TRY(api_.send(std::move(request)));
  auto document = TRY(parse_json(answer.body));
  if (answer.status != 202) return document;
  auto job_id = string_member(document, "job_id");
  if (!job_id) return api_.unexpected_response("/api/storage/migrate");
  return follower_.wait(*job_id,
                        " before every asset was copied; what was copied stays on the target. Run the same "
                        "command again for the rest",
                        [&](const jobs::JobProgress& of_job) { show_progress(progress, of_job); });
}

}  // namespace

std::unique_ptr<StorageClient> open_http_storage_client(net::ApiClient& api) {
  return std::make_unique<HttpStorageClient>(api);
}

}  // namespace dash::client
