#include "core/storage/storage.hpp"
#include "daemon/routes/chunked_routes.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

class InlineSink final : public RequestBodySink {
 public:
  explicit InlineSink(std::unique_ptr<storage::JsonUpload> upload) : upload_(std::move(upload)) {}
  Result<void> write(std::string_view bytes) override { return upload_->write(bytes); }
  Result<Response> finish() override { return json_response(201, storage::to_json(TRY(upload_->finish()))); }

 private:
  std::unique_ptr<storage::JsonUpload> upload_;
};

Result<std::unique_ptr<RequestBodySink>> open_inline(app::Application& app, const Request& request) {
  return std::make_unique<InlineSink>(TRY(app.storage.open_json_upload(request.caller())));
}

}  // namespace

void add_upload_routes(std::vector<Route>& routes, app::Application& app) {
  for (auto pattern : {"/api/storage/upload", "/api/config-mgmt/upload"})
    routes.push_back({.method = "POST",
                      .pattern = pattern,
                      .auth = Auth::signed_in,
                      .body = Body::stream,
                      .max_body = storage::kMaxInlineBody,
                      .pool = Pool::store,
                      .open = [&app](Request& r) { return open_inline(app, r); }});
  add_chunked_routes(
      routes, {.prefix = "/api/storage/upload", .uploads = app.storage.uploads(), .auth = Auth::signed_in});
}

}  // namespace dash::daemon
