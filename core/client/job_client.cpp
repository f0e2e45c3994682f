#include "core/client/job_client.hpp"

#include <thread>

#include "core/client/log_stream.hpp"

namespace dash::client {
namespace {

std::string job_path(const std::string& id) { return "/api/jobs/" + net::percent_encode(id); }

std::string job_query(const jobs::JobQuery& query) {
  std::vector<std::string_view> states;
  for (auto state : query.states) states.push_back(jobs::word(state));
  auto out =
      fmt::format("?page={}&page_size={}&status={}", query.page, query.page_size, fmt::join(states, ","));
  if (query.workgroup) out += "&workgroup=" + net::percent_encode(*query.workgroup);
  if (query.batch_id) out += "&batch_id=" + net::percent_encode(*query.batch_id);
  if (query.is_scheduled) out += "&scheduled=true";
  return out;
}

Json with_digest(Json body, const std::optional<std::string>& digest) {
  if (digest) body["digest"] = *digest;
  return body;
}

Json approval_body(jobs::ApprovalKind what) {
  switch (what) {
    case jobs::ApprovalKind::all:
      return Json::object();
    case jobs::ApprovalKind::policy:
      return {{"approves", "policy"}};
    case jobs::ApprovalKind::booking:
      return {{"approves", "booking"}};
    case jobs::ApprovalKind::plan:
      return {{"approves", "plan"}};
  }
  return Json::object();
}

constexpr std::chrono::milliseconds kPollPause{500};

// Reads all pages until the job has ended, beginning behind `after`.
Result<std::string> poll_log(JobClient& jobs, const std::string& id, std::int64_t after, LogReader& reader) {
  for (;;) {
    auto status = TRY(jobs.show(id)).value("status", "");
    auto state = jobs::parse_state(status);
    auto page = TRY(jobs.logs(id, after));
    for (const auto& line : page.at("logs")) {
      auto n = line.at("n").get<std::int64_t>();
      if (n > after + 1) reader.on_gap(after + 1, n - 1);
      reader.on_line(line);
      after = n;
    }
    if (!page.at("logs").empty()) continue;
    if (state && jobs::is_final(*state)) return status;
    std::this_thread::sleep_for(kPollPause);
  }
}

class HttpJobClient final : public JobClient {
 public:
  explicit HttpJobClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> list(const jobs::JobQuery& query) override {
    return OrderedJson(TRY(api_.get("/api/jobs" + job_query(query))));
  }
  Result<OrderedJson> show(const std::string& id) override {
    return OrderedJson(TRY(api_.get(job_path(id))));
  }
  Result<OrderedJson> logs(const std::string& id, std::int64_t after) override {
    return OrderedJson(TRY(api_.get(fmt::format("{}/logs?after={}", job_path(id), after))));
  }
  Result<std::string> follow(const std::string& id, LogReader& reader) override {
    auto followed = TRY(stream_log(api_, job_path(id) + "/logs", reader));
    return followed.is_streamed ? followed.status : poll_log(*this, id, 0, reader);
  }
  Result<OrderedJson> approve(const std::string& id, jobs::ApprovalKind what,
                              const std::optional<std::string>& digest) override {
    auto path = "/api/change-windows/approvals/" + net::percent_encode(id);
    return OrderedJson(TRY(api_.post(path, with_digest(approval_body(what), digest))));
  }
  Result<OrderedJson> reject(const std::string& id, const std::string& why,
                             const std::optional<std::string>& digest) override {
    return OrderedJson(TRY(api_.post(job_path(id) + "/reject", with_digest({{"reason", why}}, digest))));
  }
  Result<OrderedJson> reschedule(const std::string& id, const Json& body) override {
    return OrderedJson(TRY(api_.post(job_path(id) + "/reschedule", body)));
  }
  Result<OrderedJson> cancel(const std::string& id) override {
    return OrderedJson(TRY(api_.remove(job_path(id))));
  }

 private:
  net::ApiClient& api_;
};

class LocalJobClient final : public JobClient {
 public:
  LocalJobClient(jobs::Jobs& jobs, Principal principal) : jobs_(jobs), principal_(std::move(principal)) {}

  Result<OrderedJson> list(const jobs::JobQuery& query) override {
    return jobs::to_json(TRY(jobs_.list(principal_, query)), query, TRY(jobs_.name_style()));
  }
  Result<OrderedJson> show(const std::string& id) override {
    return jobs::to_json(TRY(jobs_.show(principal_, id)), TRY(jobs_.name_style()));
  }
  Result<OrderedJson> logs(const std::string& id, std::int64_t after) override {
    return jobs::to_json(TRY(jobs_.logs(principal_, id, after)));
  }
  Result<std::string> follow(const std::string& id, LogReader& reader) override {
    return poll_log(*this, id, 0, reader);
  }
  Result<OrderedJson> approve(const std::string& id, jobs::ApprovalKind what,
                              const std::optional<std::string>& digest) override {
    return jobs::to_json(TRY(jobs_.approve(principal_, id, what, digest)));
  }
  Result<OrderedJson> reject(const std::string& id, const std::string& why,
                             const std::optional<std::string>& digest) override {
    return jobs::to_json(TRY(jobs_.reject(principal_, id, why, digest)), TRY(jobs_.name_style()));
  }
  Result<OrderedJson> reschedule(const std::string& id, const Json& body) override {
    return jobs::schedule_json(TRY(jobs_.reschedule(principal_, id, body)));
  }
  Result<OrderedJson> cancel(const std::string& id) override {
    auto job = TRY(jobs_.cancel(principal_, id));
    return OrderedJson{{"job_id", job.id}, {"status", jobs::word(job.state)}};
  }

 private:
  jobs::Jobs& jobs_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<JobClient> open_http_job_client(net::ApiClient& api) {
  return std::make_unique<HttpJobClient>(api);
}
std::unique_ptr<JobClient> open_local_job_client(jobs::Jobs& jobs, Principal principal) {
  return std::make_unique<LocalJobClient>(jobs, std::move(principal));
}

}  // namespace dash::client
