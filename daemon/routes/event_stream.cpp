#include "daemon/routes/event_stream.hpp"

#include <charconv>

namespace dash::daemon {
namespace {

// What the caller is known by; the rest of the request has gone when it is asked for again.
Request copy_head(const Request& request) {
  Request out;
  out.method = request.method;
  out.path = request.path;
  out.headers = request.headers;
  out.peer = request.peer;
  out.client = request.client;
  out.request_id = request.request_id;
  return out;
}

}  // namespace

EventStream::EventStream(app::Application& app, Authenticate authenticate, const Request& request)
    : app_(app),
      authenticate_(std::move(authenticate)),
      head_(copy_head(request)),
      principal_(request.caller()),
      checked_at_(app.clock.steady_now()) {}

SteadyTime EventStream::wait(Wake wake) {
  auto now = app_.clock.steady_now();
  bool is_ready = is_over_ || is_draining_ || has_more_ || taken_ < pending_.size();
  if (is_ready || has_news(std::move(wake))) return now;
  return sent_at_ + kPingInterval;
}

Result<std::size_t> EventStream::read(std::span<char> into) {
  if (taken_ == pending_.size()) refill();
  auto n = pending_.copy(into.data(), into.size(), taken_);
  taken_ += n;
  if (taken_ == pending_.size()) std::string().swap(pending_), taken_ = 0;
  sent_at_ = app_.clock.steady_now();
  return n;
}

// Leaves `pending_` empty at the end of the stream.
void EventStream::refill() {
  if (is_over_ || is_draining_ || !check_caller() || !read_page()) return;
  if (pending_.empty()) pending_ = ": \n\n";
}

bool EventStream::check_caller() {
  auto now = app_.clock.steady_now();
  if (now - checked_at_ < kRecheckInterval) return true;
  auto caller = authenticate_(Auth::signed_in, head_);
  if (!caller || !*caller) return false;
  principal_ = **std::move(caller);
  checked_at_ = now;
  return true;
}

void EventStream::add(std::string_view fields, const OrderedJson& data) {
  pending_ += fmt::format("{}data: {}\n\n", fields, dump_json(data));
}

Result<Response> event_response(std::unique_ptr<EventStream> stream) {
  TRY(stream->begin());
  Response response;
  response.content_type = "text/event-stream";
  response.headers.add("X-Accel-Buffering", "no");  // nginx would hold events back
  response.source = std::move(stream);
  return response;
}

Result<std::optional<std::int64_t>> last_event_id(const Request& request) {
  auto last = request.header("Last-Event-ID");
  if (!last || last->empty()) return std::nullopt;
  std::int64_t out = 0;
  auto [end, error] = std::from_chars(last->data(), last->data() + last->size(), out);
  if (error == std::errc() && end == last->data() + last->size() && out >= 0) return out;
  return fail(Code::invalid, "Last-Event-ID is the number of an event of this stream");
}

}  // namespace dash::daemon
