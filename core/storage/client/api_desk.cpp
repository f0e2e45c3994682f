#include "core/crypto/hash.hpp"
#include "core/storage/client/desk.hpp"
#include "core/storage/client/patience.hpp"

namespace dash::storage {
namespace {

// A part at 100 kbit/s takes eleven minutes; the low-speed floor of the client ends a dead transfer long
// before.
constexpr std::chrono::minutes kTransferDeadline{15};

class ApiDesk final : public Desk {
 public:
  explicit ApiDesk(net::ApiClient& api) : api_(api) {}
  std::string name() const override { return api_.url(); }

  Result<Json> backends() override { return api_.get("/api/storage/backends"); }
  Result<Json> list(const std::string& backend) override {
    return api_.get(backend.empty() ? "/api/storage/list"
                                    : "/api/storage/list/" + net::percent_encode(backend));
  }
  Result<Json> remove(const std::string& name) override {
    return api_.remove("/api/storage/asset/" + net::percent_encode(name, true));
  }
  Result<Json> test(const std::string& backend, bool is_deep) override {
    Json body{{"backend", backend}};
    if (is_deep) body["deep"] = true;
    return send("POST", "/api/storage/test", {{"Content-Type", "application/json"}}, dump_json(body));
  }

  Result<Json> upload(const std::string& name, std::string_view bytes) override {
    auto body = fmt::format(R"({{"filename":{},"content_b64":")", dump_json(Json(name))) +
                crypto::to_base64(bytes) + "\"}";
    return send("POST", "/api/storage/upload", {{"Content-Type", "application/json"}}, body);
  }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return api_.post("/api/storage/upload/begin", {{"filename", name}, {"size", size}});
  }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, std::string_view bytes) override {
    auto digest = "sha-256=:" + crypto::to_base64(crypto::sha256(bytes)) + ":";
    return send("PUT", fmt::format("/api/storage/upload/part/{}", n),
                {{"X-Upload-Handle", handle},
                 {"Content-Type", "application/octet-stream"},
                 {"Content-Digest", digest}},
                bytes);
  }
  Result<Json> status(const std::string& handle) override {
    return send("GET", "/api/storage/upload/status", {{"X-Upload-Handle", handle}}, "");
  }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    Json body{{"handle", handle}, {"parts", parts}};
    return send("POST", "/api/storage/upload/commit", {{"Content-Type", "application/json"}},
                dump_json(body));
  }
  Result<Json> abort(const std::string& handle) override {
    return api_.post("/api/storage/upload/abort", {{"handle", handle}});
  }

  Result<Head> fetch(const std::string& backend, const std::string& name, const Sink& sink) override;

 private:
  Result<Json> send(std::string method, std::string path, net::Headers headers, std::string_view body) {
    net::HttpRequest request;
    request.method = std::move(method);
    request.url = std::move(path);
    request.headers = std::move(headers);
    request.body = body;
    request.deadline = kTransferDeadline;
    return parse_json(TRY(api_.send(std::move(request))).body);
  }
  net::ApiClient& api_;
};

// A connection that breaks is taken up again where it stopped, as long as the asset is still the same one.
Result<Desk::Head> ApiDesk::fetch(const std::string& backend, const std::string& name, const Sink& sink) {
  std::uint64_t received = 0;
  std::string tag;
  Head head;
  auto once = [&]() -> Result<void> {
    net::HttpRequest request;
    request.url = fmt::format("/api/storage/fetch?raw=1&name={}&backend={}", net::percent_encode(name),
                              net::percent_encode(backend));
    if (received > 0) {
      request.headers.add("Range", fmt::format("bytes={}-", received));
      request.headers.add("If-Match", tag);
    }
    request.deadline = std::chrono::milliseconds(0);
    request.max_body = std::numeric_limits<std::size_t>::max();
    request.sink = [&](std::string_view bytes) -> Result<void> {
      received += bytes.size();
      return sink(bytes);
    };
    auto response = TRY(api_.send(std::move(request)));
    tag = response.headers.get("ETag").value_or("");
    head.digest = response.headers.get("X-Asset-Digest").value_or("");
    return {};
  };
  TRY(with_patience(once));
  head.size = received;
  return head;
}

}  // namespace

std::unique_ptr<Desk> open_api_desk(net::ApiClient& api) { return std::make_unique<ApiDesk>(api); }

}  // namespace dash::storage
