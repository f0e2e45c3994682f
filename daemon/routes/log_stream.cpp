#include "daemon/routes/log_stream.hpp"

#include "core/jobs/jobs.hpp"
#include "daemon/routes/event_stream.hpp"

namespace dash::daemon {
namespace {

class LogStream final : public EventStream {
 public:
  LogStream(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
            Authenticate authenticate, const Request& request, std::int64_t after)
      : EventStream(app, std::move(authenticate), request),
        id_(request.param("id")),
        after_(after),
        follower_(watcher, id_) {}

 private:
  bool has_news(Wake wake) override { return follower_.wait(after_, std::move(wake)); }

  Result<void> read_page() override {
    auto page = TRY(app_.jobs.log_page(principal(), id_, after_));
    for (const auto& line : page.lines) {
      if (line.n > after_ + 1) add("event: gap\n", {{"from", after_ + 1}, {"to", line.n - 1}});
      add(fmt::format("id: {}\n", line.n), jobs::to_json(line));
      after_ = line.n;
    }
    set_more(!page.is_last);
    if (!page.is_last || !jobs::is_final(page.state)) return {};
    add("event: end\n", {{"status", jobs::word(page.state)}});
    end();
    return {};
  }

  const std::string id_;
  std::int64_t after_;  // number of the last line that was read
  jobs::LogWatcher::Follower follower_;
};

}  // namespace

Result<Response> stream_log(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
                            Authenticate authenticate, const Request& request, std::int64_t after) {
  return event_response(std::make_unique<LogStream>(app, watcher, std::move(authenticate), request, after));
}

}  // namespace dash::daemon
