#include "core/client/upload_client.hpp"

#include "core/crypto/hash.hpp"

namespace dash::client {
namespace {

// A part at 100 kbit/s takes eleven minutes. The low-speed limit of the HTTP client ends a dead transfer long
// before.
constexpr std::chrono::minutes kPartDeadline{15};

class HttpUploadClient final : public UploadClient {
 public:
  HttpUploadClient(net::ApiClient& api, std::string name, std::string prefix)
      : api_(api), name_(std::move(name)), prefix_(std::move(prefix)) {}
  std::string name() const override { return name_; }

  Result<storage::Sequence> sequence() override { return storage::Sequence::in_order; }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return api_.post(prefix_ + "/begin", {{"filename", name}, {"size", size}});
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
    auto path = fmt::format("{}/part/{}", prefix_, n);
    return confirmed(path, TRY(send("PUT", path, std::move(request))));
  }
  Result<Json> status(const std::string& handle) override {
    net::HttpRequest request;
    request.headers = {{"X-Upload-Handle", handle}};
    return send("GET", prefix_ + "/status", std::move(request));
  }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    auto body = dump_json(Json{{"handle", handle}, {"parts", parts}});
    net::HttpRequest request;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    auto path = prefix_ + "/commit";
    return confirmed(path, TRY(send("POST", path, std::move(request))));
  }
  Result<Json> abort(const std::string& handle) override {
    return api_.post(prefix_ + "/abort", {{"handle", handle}});
  }

 private:
  // Checks that the instance confirms the change: a page that answers everything with 200 has changed
  // nothing.
  Result<Json> confirmed(std::string_view path, Json answer) const {
    auto ok = answer.find("ok");
    if (ok == answer.end() || *ok != true) return api_.unexpected_response(path);
    return answer;
  }
  // With the timeout of a transfer.
  Result<Json> send(std::string method, std::string path, net::HttpRequest request) {
    request.method = std::move(method);
    request.url = std::move(path);
    request.timeout = kPartDeadline;
    return parse_json(TRY(api_.send(std::move(request))).body);
  }
  net::ApiClient& api_;
  const std::string name_, prefix_;
};

class LocalUploadClient final : public UploadClient {
 public:
  LocalUploadClient(storage::ChunkedUploads& uploads, Principal principal, std::string name)
      : uploads_(uploads), principal_(std::move(principal)), name_(std::move(name)) {}
  std::string name() const override { return name_; }

  Result<storage::Sequence> sequence() override { return uploads_.sequence(principal_); }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return Json(to_json(TRY(uploads_.begin(principal_, name, static_cast<std::int64_t>(size)))));
  }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, const storage::Payload& part,
                        const std::function<void()>&) override {
    auto sequence = TRY(uploads_.sequence(principal_));
    return Json(to_json(TRY(uploads_.put_part(principal_, handle, n, part, "", sequence))));
  }
  Result<Json> status(const std::string& handle) override {
    return Json(to_json(TRY(uploads_.status(principal_, handle))));
  }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    return Json(to_json(TRY(uploads_.commit(principal_, handle, parts))));
  }
  Result<Json> abort(const std::string& handle) override {
    return Json(to_json(TRY(uploads_.abort(principal_, handle))));
  }

 private:
  storage::ChunkedUploads& uploads_;
  const Principal principal_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<UploadClient> open_http_upload_client(net::ApiClient& api, std::string name,
                                                      std::string prefix) {
  return std::make_unique<HttpUploadClient>(api, std::move(name), std::move(prefix));
}

std::unique_ptr<UploadClient> open_local_upload_client(storage::ChunkedUploads& uploads, Principal principal,
                                                       std::string name) {
  return std::make_unique<LocalUploadClient>(uploads, std::move(principal), std::move(name));
}

}  // namespace dash::client
