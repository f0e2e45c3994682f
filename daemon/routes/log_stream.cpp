#include "daemon/routes/log_stream.hpp"

#include "core/jobs/jobs.hpp"

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

class LogStream final : public LiveBody {
 public:
  LogStream(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
            Authenticate authenticate, const Request& request, std::int64_t after)
      : app_(app),
        authenticate_(std::move(authenticate)),
        head_(copy_head(request)),
        principal_(request.caller()),
        id_(request.param("id")),
        after_(after),
        follower_(watcher, id_),
        checked_at_(app.clock.steady_now()) {}

  // The first page: an error is the response.
  Result<void> begin() { return read_page(); }

  SteadyTime wait(Wake wake) override {
    auto now = app_.clock.steady_now();
    bool is_ready = is_over_ || is_draining_ || has_more_ || taken_ < pending_.size();
    if (is_ready || follower_.wait(after_, std::move(wake))) return now;
    return sent_at_ + kPingInterval;
  }
  void drain() override { is_draining_ = true; }

  Result<std::size_t> read(std::span<char> into) override {
    if (taken_ == pending_.size()) refill();
    auto n = pending_.copy(into.data(), into.size(), taken_);
    taken_ += n;
    if (taken_ == pending_.size()) std::string().swap(pending_), taken_ = 0;
    sent_at_ = app_.clock.steady_now();
    return n;
  }

 private:
  // Leaves `pending_` empty at the end of the stream.
  void refill() {
    if (is_over_ || is_draining_ || !check_caller() || !read_page()) return;
    if (pending_.empty()) pending_ = ": \n\n";
  }

  bool check_caller() {
    auto now = app_.clock.steady_now();
    if (now - checked_at_ < kRecheckInterval) return true;
    auto caller = authenticate_(Auth::signed_in, head_);
    if (!caller || !*caller) return false;
    principal_ = **std::move(caller);
    checked_at_ = now;
    return true;
  }

  Result<void> read_page() {
    auto page = TRY(app_.jobs.log_page(principal_, id_, after_));
    for (const auto& line : page.lines) {
      if (line.n > after_ + 1) add("event: gap\n", {{"from", after_ + 1}, {"to", line.n - 1}});
      add(fmt::format("id: {}\n", line.n), jobs::to_json(line));
      after_ = line.n;
    }
    has_more_ = !page.is_last;
    is_over_ = page.is_last && jobs::is_final(page.state);
    if (is_over_) add("event: end\n", {{"status", jobs::word(page.state)}});
    return {};
  }
  void add(std::string_view fields, const OrderedJson& data) {
    pending_ += fmt::format("{}data: {}\n\n", fields, dump_json(data));
  }

  app::Application& app_;
  const Authenticate authenticate_;
  const Request head_;
  Principal principal_;
  const std::string id_;
  std::int64_t after_;  // number of the last line that was read
  jobs::LogWatcher::Follower follower_;
  SteadyTime checked_at_;
  SteadyTime sent_at_{};
  std::string pending_;
  std::size_t taken_ = 0;
  bool has_more_ = false, is_over_ = false;
  std::atomic<bool> is_draining_ = false;
};

}  // namespace

Result<Response> stream_log(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
                            Authenticate authenticate, const Request& request, std::int64_t after) {
  auto body = std::make_unique<LogStream>(app, watcher, std::move(authenticate), request, after);
  TRY(body->begin());
  Response response;
  response.content_type = "text/event-stream";
  response.headers.add("X-Accel-Buffering", "no");  // nginx would hold events back
  response.source = std::move(body);
  return response;
}

}  // namespace dash::daemon
