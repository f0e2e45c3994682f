#include "core/storage/store/gcs/session.hpp"

namespace dash::storage::gcs {
namespace {

constexpr int kResumeIncomplete = 308;  // never a redirect here
constexpr int kClientClosed = 499;      // the response of a cancelled session
// A service that takes a part in ever smaller pieces is broken.
constexpr int kMaxRequestsPerPart = 64;

Call call_to(const std::string& what, std::string_view method, const std::string& session) {
  return {.what = what, .method = method, .target = session, .headers = {}, .is_session = true};
}

bool is_gone(int status) { return status == 404 || status == 410 || status == kClientClosed; }

Result<SessionState> read_state(Client& client, const Call& call, const net::HttpResponse& response) {
  if (response.status == kResumeIncomplete) {
    auto range = response.headers.get("Range");
    return SessionState{
        TRY(parse_received_size(range ? std::optional<std::string_view>(*range) : std::nullopt)), {}};
  }
  if (response.ok()) {
    auto object = TRY(parse_object(response.body));
    auto size = object.size;
    return SessionState{size, std::move(object)};
  }
  auto error = client.to_error(call, response);
  if (is_gone(response.status)) error.code = Code::not_found;
  return Failure(std::move(error));
}

}  // namespace

Result<std::string> begin_session(Client& client, const std::string& what, std::string_view query,
                                  std::string_view object_json) {
  Call call{.what = what,
            .method = "POST",
            .target = fmt::format("/upload/storage/v1/b/{}/o?uploadType=resumable&{}",
                                  net::percent_encode(client.bucket()), query),
            .headers = {{"Content-Type", "application/json; charset=UTF-8"},
                        {"X-Upload-Content-Type", "application/octet-stream"}},
            .body = object_json};
  auto response = TRY(client.execute(call));
  return session_target(response.headers.get("Location").value_or(""));
}

Result<SessionState> send_bytes(Client& client, const std::string& what, const std::string& session,
                                std::uint64_t offset, std::string_view bytes,
                                std::optional<std::uint64_t> total) {
  auto end = offset + bytes.size();
  std::uint64_t from = offset;
  for (int attempt = 0; attempt < kMaxRequestsPerPart; ++attempt) {
    auto call = call_to(what, "PUT", session);
    call.body = bytes.substr(from - offset);
    call.headers.add("Content-Range", content_range(from, call.body.size(), total));
    auto state = TRY(read_state(client, call, TRY(client.execute_raw(call))));
    if (state.object || (state.received >= end && !total)) return state;
    if (state.received < offset)
      return fail(Code::conflict, "{}: {}: only {} bytes of what comes before are there", client.place(),
                  what, state.received);
    // The same bytes may succeed again, but the retry decorator decides that.
    if (state.received <= from || state.received > end)
      return fail(Code::unreachable, "{}: {}: the store has {} bytes of {}", client.place(), what,
                  state.received - offset, bytes.size());
    from = state.received;
  }
  return fail(Code::upstream, "{}: {}: the store takes the bytes in too small pieces", client.place(), what);
}

Result<SessionState> query_state(Client& client, const std::string& what, const std::string& session) {
  auto call = call_to(what, "PUT", session);
  call.headers.add("Content-Range", content_range(0, 0, std::nullopt));
  return read_state(client, call, TRY(client.execute_raw(call)));
}

Result<bool> cancel_session(Client& client, const std::string& what, const std::string& session) {
  auto call = call_to(what, "DELETE", session);
  auto response = TRY(client.execute_raw(call));
  if (response.ok() || response.status == kClientClosed) return true;
  if (is_gone(response.status)) return false;
  return Failure(client.to_error(call, response));
}

}  // namespace dash::storage::gcs
