#include "core/client/log_stream.hpp"

#include <algorithm>
#include <thread>

#include "core/client/event_parser.hpp"

namespace dash::client {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{250}, kLastPause{5'000};
constexpr std::chrono::seconds kMaxAbsence{60};
// The server sends something every 15 s.
constexpr std::chrono::seconds kMaxSilence{60};

class LogStream {
 public:
  LogStream(net::ApiClient& api, const std::string& path, LogReader& reader)
      : api_(api), path_(path), reader_(reader) {}

  // One connection. Returns the response when it ended in order.
  Result<net::HttpResponse> read() {
    EventParser parser([this](const ServerEvent& event) { return on_event(event); });
    net::HttpRequest request;
    request.url = fmt::format("{}?follow=1&after={}", path_, after_);
    request.headers = {{"Accept", "text/event-stream"}};
    if (after_ > 0) request.headers.add("Last-Event-ID", std::to_string(after_));
    request.timeout = std::chrono::milliseconds(0);
    request.idle_timeout = kMaxSilence;
    request.body_sink = &parser;
    return api_.send(request);
  }

  const std::string& status() const { return status_; }
  bool has_ended() const { return !status_.empty(); }
  // Returns whether lines came since the last call.
  bool has_moved() { return std::exchange(has_moved_, false); }

 private:
  Result<void> on_event(const ServerEvent& event) {
    auto data = TRY(parse_json(event.data));
    if (!data.is_object()) return fail(Code::upstream, "an event of the stream is no JSON object");
    has_moved_ = true;
    if (event.type == "end") {
      status_ = data.value("status", "");
    } else if (event.type == "gap") {
      reader_.on_gap(data.value("from", std::int64_t{0}), data.value("to", std::int64_t{0}));
    } else if (event.type == "message") {
      after_ = data.value("n", after_);
      reader_.on_line(OrderedJson(data));
    }
    return {};
  }

  net::ApiClient& api_;
  const std::string& path_;
  LogReader& reader_;
  std::int64_t after_ = 0;
  std::string status_;
  bool has_moved_ = false;
};

bool is_stream(const net::HttpResponse& response) {
  return response.headers.get("Content-Type").value_or("").starts_with("text/event-stream");
}

bool may_pass(const Error& error) {
  return error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::busy;
}

}  // namespace

Result<StreamLogResult> stream_log(net::ApiClient& api, const std::string& path, LogReader& reader) {
  LogStream stream(api, path, reader);
  auto pause = kFirstPause;
  auto last_seen = Steady::now();
  for (bool was_connected = false;;) {
    auto response = stream.read();
    if (stream.has_ended()) return StreamLogResult{true, stream.status()};
    if (response && !is_stream(*response)) return StreamLogResult{false, ""};
    bool is_new = stream.has_moved();
    if (response || is_new) last_seen = Steady::now(), pause = kFirstPause;
    was_connected = was_connected || response || is_new;
    if (!response) {
      bool is_over = !was_connected || !may_pass(response.error()) || Steady::now() - last_seen > kMaxAbsence;
      if (is_over) return Failure(response.error());
      reader.on_interruption(response.error());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLastPause);
  }
}

}  // namespace dash::client
