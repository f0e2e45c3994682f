#include <charconv>

#include "core/base/shape.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

std::string handle_header(const Request& request) { return request.header("X-Upload-Handle").value_or(""); }

Result<std::int64_t> part_number(const Request& request) {
  const auto& text = request.param("n");
  std::int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc() && end == text.data() + text.size()) return n;
  return Failure(validation_error({{"int_parsing", {"n"}, "Input should be a valid integer", text}}, "path"));
}

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

Result<Response> begin(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto filename = TRY(required_string(body, "filename"));
  auto size = TRY(required_int(body, "size"));
  return json_response(201, storage::to_json(TRY(app.storage.uploads().begin(principal, filename, size))));
}

Result<Response> put_part(app::Application& app, const Request& request, const storage::PartRequest& part) {
  auto result = TRY(app.storage.uploads().put_part(request.caller(), part, request.body,
                                                   request.header("Content-Digest").value_or("")));
  return json_response(200, storage::to_json(result));
}

// Refuses by the header section alone, so that 8 MiB that would be refused are never read.
Result<Handler> admit_part(app::Application& app, Request& request) {
  auto part =
      TRY(app.storage.uploads().open_part(request.caller(), handle_header(request), TRY(part_number(request)),
                                          request.content_length.value_or(0)));
  return Handler([&app, part = std::move(part)](Request& r) { return put_part(app, r, part); });
}

Result<Response> status(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(
      200, storage::to_json(TRY(app.storage.uploads().status(principal, handle_header(request)))));
}

Result<Response> commit(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto handle = TRY(required_string(body, "handle"));
  auto parts = body.find("parts");
  if (parts == body.end()) return missing_member("parts");
  return json_response(201, storage::to_json(TRY(app.storage.uploads().commit(principal, handle, *parts))));
}

Result<Response> abort(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto handle = TRY(required_string(TRY(json_object(request)), "handle"));
  return json_response(200, storage::to_json(TRY(app.storage.uploads().abort(principal, handle))));
}

Route post(std::string_view pattern, Handler handler) {
  return {.method = "POST",
          .pattern = std::string(pattern),
          .auth = Auth::signed_in,
          .handler = std::move(handler),
          .body = Body::small,
          .pool = Pool::store};
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
  routes.push_back(post("/api/storage/upload/begin", [&app](Request& r) { return begin(app, r); }));
  routes.push_back({.method = "PUT",
                    .pattern = "/api/storage/upload/part/{n}",
                    .auth = Auth::signed_in,
                    .body = Body::part,
                    .max_body = kPartBytes,
                    .pool = Pool::store,
                    .admit = [&app](Request& r) { return admit_part(app, r); }});
  routes.push_back({.pattern = "/api/storage/upload/status",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return status(app, r); },
                    .pool = Pool::store});
  routes.push_back(post("/api/storage/upload/commit", [&app](Request& r) { return commit(app, r); }));
  routes.push_back(post("/api/storage/upload/abort", [&app](Request& r) { return abort(app, r); }));
}

}  // namespace dash::daemon
