#include "core/agent/remote/job_reports.hpp"

#include <thread>

#include "core/base/log.hpp"
#include "core/base/utf8.hpp"
#include "core/jobs/secret_mask.hpp"
#include "core/net/http/retry.hpp"
#include "core/net/http/retry_after.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMinRedactedChars = 4;  // a shorter one is part of too many words
constexpr std::chrono::milliseconds kFirstDelay{500}, kLongestDelay{10'000};
constexpr std::chrono::seconds kHeartbeatTime{10};

// Another attempt may help: the dashboard was not reached, or is busy.
bool should_send_again(const Result<net::HttpResponse>& response) {
  return !response || response->status == 429 || response->status >= 500;
}

Error delivery_error(const Result<net::HttpResponse>& response) {
  if (!response) return {.code = Code::unreachable, .message = response.error().message};
  return {.code = Code::busy,
          .message = answer_text(*response),
          .retry_after = net::retry_after(response->headers)};
}

}  // namespace

Completion completion_of(const Result<Json>& result, const JobContext& context) {
  Completion out;
  if (result && dump_json(*result).size() > kMaxResultBytes)
    return {false, Json::object(), fmt::format("the result exceeds {} bytes", kMaxResultBytes)};
  if (result) return {true, *result, ""};
  jobs::SecretMask mask(context.secrets, kMinRedactedChars);
  auto text = mask.mask(result.error().message);
  if (result.error().code == Code::policy_denied) text = std::string(kPolicyRefusal) + text;
  out.error = trim_partial_character(std::string_view(text).substr(0, kMaxErrorChars));
  return out;
}

Result<net::HttpResponse> JobReports::deliver(const LeasedJob& job, std::string_view what, const Send& send,
                                              std::chrono::seconds time) {
  net::RetryPolicy policy{.attempts = 1 << 20,
                          .initial_delay = kFirstDelay,
                          .max_delay = kLongestDelay,
                          .max_retry_after = time,
                          .max_elapsed = time};
  bool was_stopping = false;
  auto attempt = [&](int) -> Result<net::HttpResponse> {
    auto response = send();
    if (!should_send_again(response)) return response;
    auto error = delivery_error(response);
    log::warning("agent.report_failed", {{"job", job.id}, {"report", what}, {"error", error.message}});
    // One that is not transient ends the attempts.
    if (std::exchange(was_stopping, is_stopping_())) error.code = Code::interrupted;
    return Failure(std::move(error));
  };
  return net::Retry(policy).run(attempt);
}

bool JobReports::complete(const LeasedJob& job, const Completion& completion, std::chrono::seconds time) {
  auto response = deliver(
      job, "complete", [&] { return dashboard_.complete(job.id, completion); }, time);
  auto status = response ? response->status : 0;
  log::info("agent.completed", {{"job", job.id},
                                {"type", job.type},
                                {"status", completion.is_completed ? "completed" : "failed"},
                                {"error", completion.error},
                                {"answer", status}});
  return response.has_value();
}

bool JobReports::logs(const LeasedJob& job, const std::vector<std::string>& lines, std::int64_t first) {
  bool is_sent = true;
  for (std::size_t at = 0; at < lines.size(); at += kMaxLinesPerRequest) {
    auto end = std::min(lines.size(), at + kMaxLinesPerRequest);
    LogLines batch{
        {lines.begin() + static_cast<std::ptrdiff_t>(at), lines.begin() + static_cast<std::ptrdiff_t>(end)},
        first + static_cast<std::int64_t>(at)};
    is_sent = deliver(
                  job, "logs", [&] { return dashboard_.logs(job.id, batch); }, kDeliveryTime) &&
              is_sent;
  }
  return is_sent;
}

bool JobReports::is_cancelled(const LeasedJob& job, const Heartbeat& heartbeat) {
  auto response = deliver(
      job, "heartbeat", [&] { return dashboard_.heartbeat(job.id, heartbeat); }, kHeartbeatTime);
  if (!response || response->status != 200) return false;
  auto json = parse_json(response->body);
  return json && json->is_object() && json->value("cancel_requested", Json(false)) == Json(true);
}

}  // namespace dash::agent
