#include <charconv>

#include "core/client/inline_request.hpp"
#include "core/client/storage_client.hpp"
#include "core/crypto/hash.hpp"
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
  explicit HttpStorageClient(net::ApiClient& api) : api_(api) {}
  std::string name() const override { return api_.url(); }

  Result<Json> backends() override { return api_.get("/api/storage/backends"); }
  Result<Json> list(const std::string& backend) override {
    return api_.get(backend.empty() ? "/api/storage/list"
                                    : "/api/storage/list/" + net::percent_encode(backend));
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
  Result<Json> compare(const std::string& source, const std::string& target, Progress&) override {
    return wait_for("/api/storage/verify", {{"source", source}, {"target", target}});
  }
  Result<Json> sweep(const std::string& backend, std::int64_t age_hours) override {
    return wait_for("/api/storage/gc", {{"backend", backend}, {"older_than_hours", age_hours}});
  }
  Result<Json> migrate(const storage::MigrateRequest& order, Progress&) override {
    return wait_for("/api/storage/migrate", {{"source", order.source},
                                             {"target", order.target},
                                             {"overwrite", order.overwrite},
                                             {"dry_run", order.is_dry_run}});
  }

  Result<Json> states() override { return api_.get(kStates); }
  Result<Json> state(const std::string& job) override {
    return api_.get(fmt::format("{}/{}", kStates, net::percent_encode(job)));
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

  Result<storage::Sequence> sequence() override { return storage::Sequence::in_order; }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return api_.post("/api/storage/upload/begin", {{"filename", name}, {"size", size}});
  }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, const storage::Payload& part,
                        const std::function<void()>& left) override {
    net::HttpRequest request;
    request.headers = {{"X-Upload-Handle", handle},
                       {"Content-Type", "application/octet-stream"},
                       {"Content-Digest", "sha-256=:" + crypto::to_base64(part.sha256) + ":"}};
    auto rest = part.bytes;
    FunctionSource source([&](std::span<char> into) -> Result<std::size_t> {
      auto size = rest.copy(into.data(), into.size());
      rest.remove_prefix(size);
      if (size > 0 && rest.empty()) left();
      return size;
    });
    request.body_source = &source;
    request.body_source_size = part.bytes.size();
    auto path = fmt::format("/api/storage/upload/part/{}", n);
    return done(path, TRY(send("PUT", path, std::move(request))));
  }
  Result<Json> status(const std::string& handle) override {
    net::HttpRequest request;
    request.headers = {{"X-Upload-Handle", handle}};
    return send("GET", "/api/storage/upload/status", std::move(request));
  }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    constexpr auto kPath = "/api/storage/upload/commit";
    return done(kPath, TRY(post(kPath, {{"handle", handle}, {"parts", parts}})));
  }
  Result<Json> abort(const std::string& handle) override {
    return api_.post("/api/storage/upload/abort", {{"handle", handle}});
  }

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

}  // namespace

std::unique_ptr<StorageClient> open_http_storage_client(net::ApiClient& api) {
  return std::make_unique<HttpStorageClient>(api);
}

}  // namespace dash::client
