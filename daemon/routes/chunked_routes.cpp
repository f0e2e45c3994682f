#include "daemon/routes/chunked_routes.hpp"

#include <charconv>

#include "core/base/shape.hpp"
#include "daemon/routes/body.hpp"

namespace dash::daemon {
namespace {

using storage::ChunkedUploads;

std::string handle_header(const Request& request) { return request.header("X-Upload-Handle").value_or(""); }

Result<std::int64_t> part_number(const Request& request) {
  const auto& text = request.param("n");
  std::int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc() && end == text.data() + text.size()) return n;
  return Failure(validation_error({{"int_parsing", {"n"}, "Input should be a valid integer", text}}, "path"));
}

Result<Response> begin(ChunkedUploads& uploads, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto filename = TRY(required_string(body, "filename"));
  auto size = TRY(required_int(body, "size"));
  return json_response(201, storage::to_json(TRY(uploads.begin(principal, filename, size))));
}

Result<Response> put_part(ChunkedUploads& uploads, const Request& request, const storage::PartRequest& part) {
  auto result = TRY(
      uploads.put_part(request.caller(), part, request.body, request.header("Content-Digest").value_or("")));
  return json_response(200, storage::to_json(result));
}

// Refuses by the header section alone, so that 8 MiB that would be refused are never read.
Result<Handler> admit_part(ChunkedUploads& uploads, Request& request) {
  auto part = TRY(uploads.open_part(request.caller(), handle_header(request), TRY(part_number(request)),
                                    request.content_length.value_or(0)));
  return Handler([&uploads, part = std::move(part)](Request& r) { return put_part(uploads, r, part); });
}

Result<Response> status(ChunkedUploads& uploads, const Request& request) {
  const auto& principal = request.caller();
  return json_response(200, storage::to_json(TRY(uploads.status(principal, handle_header(request)))));
}

Result<Response> commit(ChunkedUploads& uploads, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto handle = TRY(required_string(body, "handle"));
  auto parts = body.find("parts");
  if (parts == body.end()) return missing_member("parts");
  return json_response(201, storage::to_json(TRY(uploads.commit(principal, handle, *parts))));
}

Result<Response> abort(ChunkedUploads& uploads, const Request& request) {
  const auto& principal = request.caller();
  auto handle = TRY(required_string(TRY(json_object(request)), "handle"));
  return json_response(200, storage::to_json(TRY(uploads.abort(principal, handle))));
}

using Answer = Result<Response>(ChunkedUploads&, const Request&);

Route small_route(const ChunkedRoutes& chunked, const std::string& method, std::string_view step,
                  Answer* answer) {
  return {.method = method,
          .pattern = fmt::format("{}/{}", chunked.prefix, step),
          .auth = chunked.auth,
          .handler = [&uploads = chunked.uploads, answer](Request& r) { return answer(uploads, r); },
          .body = method == "GET" ? Body::none : Body::small,
          .pool = Pool::store};
}

}  // namespace

void add_chunked_routes(std::vector<Route>& routes, const ChunkedRoutes& chunked) {
  routes.push_back(small_route(chunked, "POST", "begin", begin));
  routes.push_back({.method = "PUT",
                    .pattern = chunked.prefix + "/part/{n}",
                    .auth = chunked.auth,
                    .body = Body::part,
                    .max_body = kPartBytes,
                    .pool = Pool::store,
                    .admit = [&uploads = chunked.uploads](Request& r) { return admit_part(uploads, r); }});
  routes.push_back(small_route(chunked, "GET", "status", status));
  routes.push_back(small_route(chunked, "POST", "commit", commit));
  routes.back().max_body = chunked.max_commit_body;
  routes.push_back(small_route(chunked, "POST", "abort", abort));
}

}  // namespace dash::daemon
