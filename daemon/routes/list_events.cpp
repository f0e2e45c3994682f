#include "daemon/routes/list_events.hpp"

#include "core/agent/dashboard/agent_changes.hpp"
#include "core/jobs/changes.hpp"
#include "daemon/routes/event_stream.hpp"

namespace dash::daemon {
namespace {

// A caller that missed more changes than this reads its lists again.
constexpr std::int64_t kMaxResumedChanges = 1000;

class ListEvents final : public EventStream {
 public:
  ListEvents(app::Application& app, const std::shared_ptr<db::ChangeWatcher>& watcher,
             Authenticate authenticate, const Request& request, std::optional<std::int64_t> last_id)
      : EventStream(app, std::move(authenticate), request), last_id_(last_id), follower_(watcher) {}

 private:
  bool has_news(Wake wake) override { return follower_.wait(after_, std::move(wake)); }

  Result<void> read_page() override {
    if (!is_ready_) TRY(get_ready());
    auto changes = TRY(jobs::list_changes(app_.sql, principal(), after_));
    auto style = TRY(app_.jobs.name_style());
    for (const auto& [number, job] : changes.jobs) {
      if (job.needs_any_approval()) TRY(add_approval(job));
      add(fmt::format("id: {}\nevent: job\n", number), jobs::to_json(job, style));
    }
    TRY(add_agents());
    after_ = changes.last;
    set_more(!changes.is_last);
    return {};
  }

  // A number that is larger than the newest is of another database.
  Result<void> get_ready() {
    auto newest = TRY(db::read<std::int64_t>(app_.sql, db::newest_change));
    bool resumes = last_id_ && *last_id_ <= newest && newest - *last_id_ <= kMaxResumedChanges;
    after_ = agents_after_ = resumes ? *last_id_ : newest;
    is_ready_ = true;
    add(fmt::format("id: {}\nevent: ready\n", after_), {{"resumed", resumes}});
    return {};
  }

  // Only admins have a list of agents. A change that comes later than the page is there for the next one.
  Result<void> add_agents() {
    if (!principal().is_admin) return {};
    auto newest = TRY(agent::newest_agent_change(app_.sql));
    if (newest > agents_after_) add("event: agents\n", OrderedJson::object());
    agents_after_ = newest;
    return {};
  }

  // Without an id of its own: a stream that is cut behind it is resumed before it.
  Result<void> add_approval(const jobs::Job& job) {
    jobs::JobQuery awaiting;
    awaiting.states = {jobs::State::awaiting_approval};
    awaiting.page_size = 1;
    auto total = TRY(app_.jobs.list(principal(), awaiting)).total;
    add("event: approval\n", {{"job_id", job.id},
                              {"status", jobs::word(job.state)},
                              {"awaiting", job.state == jobs::State::awaiting_approval},
                              {"total", total}});
    return {};
  }

  const std::optional<std::int64_t> last_id_;
  bool is_ready_ = false;
  std::int64_t after_ = 0;         // number of the last change that was read
  std::int64_t agents_after_ = 0;  // likewise, of the list of agents
  db::ChangeWatcher::Follower follower_;
};

}  // namespace

Result<Response> stream_lists(app::Application& app, const std::shared_ptr<db::ChangeWatcher>& watcher,
                              Authenticate authenticate, const Request& request) {
  return event_response(std::make_unique<ListEvents>(app, watcher, std::move(authenticate), request,
                                                     TRY(last_event_id(request))));
}

}  // namespace dash::daemon
