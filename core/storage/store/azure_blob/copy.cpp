#include "core/storage/store/azure_blob/copy.hpp"

#include <charconv>
#include <thread>

#include "core/base/log.hpp"

namespace dash::storage::azure_blob {
namespace {

constexpr std::chrono::milliseconds kCopyPollInterval{250};
constexpr int kMaxPollFailures = 120;  // half a minute; the copy goes on meanwhile

Result<net::HttpResponse> look_at_copy(Client& client, const std::string& key) {
  return client.execute({.what = "looking at the copy " + key, .method = "HEAD", .key = key});
}

std::string copy_id(const net::HttpResponse& response) {
  return response.headers.get("x-ms-copy-id").value_or("");
}

// "1024/4096"
std::uint64_t copied_bytes(const net::HttpResponse& response) {
  auto text = response.headers.get("x-ms-copy-progress").value_or("");
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

Result<void> await_copy(Client& client, const InsideCopy& copy, net::HttpResponse state) {
  const auto id = copy_id(state);
  for (int failures = 0;;) {
    auto status = std::string(state.headers.get(kCopyStatus).value_or("success"));
    if (copy_id(state) != id)
      return fail(Code::conflict, "{}: '{}' was replaced while it was copied", client.place(), copy.to);
    if (status == "success") return copy.report(copy.from.size);
    if (status != "pending")
      return fail(Code::upstream, "{}: the copy to '{}' is {}: {}", client.place(), copy.to, status,
                  state.headers.get("x-ms-copy-status-description").value_or("no reason was given"));
    TRY(copy.report(copied_bytes(state)));
    std::this_thread::sleep_for(kCopyPollInterval);
    auto next = look_at_copy(client, copy.to);
    if (!next && (next.error().code == Code::not_found || ++failures > kMaxPollFailures))
      return Failure(std::move(next).error());
    if (!next) continue;
    failures = 0;
    state = *std::move(next);
  }
}

void discard_copy(Client& client, const std::string& key, const std::string& id) {
  std::ignore = client.execute({.what = "aborting the copy " + key,
                                .method = "PUT",
                                .key = key,
                                .query = {{"comp", "copy"}, {"copyid", id}},
                                .headers = {{"x-ms-copy-action", "abort"}}});
  auto removed = client.execute({.what = "deleting " + key, .method = "DELETE", .key = key});
  if (!removed)
    log::warning("storage.abort_failed", {{"place", client.place()}, {"error", removed.error().message}});
}

}  // namespace

bool has_all_bytes(std::string_view status) { return status.empty() || status == "success"; }

Call copy_call(const Client& client, const InsideCopy& copy) {
  Call call{.what = fmt::format("copying {} to {}", copy.from.key, copy.to), .method = "PUT", .key = copy.to};
  call.headers = {{"x-ms-copy-source", client.url_of(copy.bucket, copy.from.key)},
                  {"x-ms-source-if-match", fmt::format("\"{}\"", copy.from.etag)}};
  if (copy.only_if_absent) call.headers.add("If-None-Match", "*");
  return call;
}

Result<void> finish_copy(Client& client, const InsideCopy& copy, const net::HttpResponse& begun) {
  auto done = await_copy(client, copy, begun);
  if (!done && done.error().code != Code::conflict) discard_copy(client, copy.to, copy_id(begun));
  return done;
}

Result<bool> drop_failed_copy(Client& client, const std::string& key) {
  auto state = TRY(look_at_copy(client, key));
  auto status = state.headers.get(kCopyStatus).value_or("");
  if (status != "failed" && status != "aborted") return false;
  TRY(client.execute({.what = "deleting " + key,
                      .method = "DELETE",
                      .key = key,
                      .headers = {{"If-Match", std::string(state.headers.get("ETag").value_or(""))}}}));
  return true;
}

}  // namespace dash::storage::azure_blob
