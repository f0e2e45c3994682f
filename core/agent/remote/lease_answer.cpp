#include "core/agent/remote/lease_answer.hpp"

#include <algorithm>
#include <charconv>

#include "core/agent/protocol/documents.hpp"
#include "core/agent/protocol/job_envelope.hpp"
#include "core/agent/protocol/request_signature.hpp"
#include "core/base/fields.hpp"
#include "core/base/text.hpp"
#include "core/net/http/http_date.hpp"

namespace dash::agent {
namespace {

constexpr std::chrono::seconds kThrottledWait{30};  // when the header says nothing
constexpr std::chrono::milliseconds kMaxWait{300'000};
constexpr std::size_t kMaxJobIdChars = 64;

LeaseAnswer failed_answer(std::string why) {
  return {.kind = LeaseAnswer::Kind::failed, .why = std::move(why)};
}

bool is_job_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxJobIdChars && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Whole seconds alone, as the deployed agents read them.
std::chrono::seconds throttled_wait(const net::HttpResponse& response, std::chrono::seconds poll) {
  auto text = response.headers.get("Retry-After").value_or("");
  long seconds = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  bool is_whole = problem == std::errc() && end == text.data() + text.size() && !text.empty() && seconds >= 0;
  return std::max(poll, is_whole ? std::min(std::chrono::seconds(seconds),
                                            std::chrono::duration_cast<std::chrono::seconds>(kMaxWait))
                                 : kThrottledWait);
}

// A clock that is off is answered as a revoked agent is: the answer's Date tells them apart.
std::string revoked_text(const net::HttpResponse& response, Time now) {
  std::string text = "the dashboard answered 401: this agent was revoked, or its key is not known there";
  auto date = net::parse_http_date(response.headers.get("Date").value_or(""));
  if (!date) return text;
  auto apart = std::chrono::duration_cast<std::chrono::seconds>(now - *date);
  if (std::chrono::abs(apart) < kSignatureWindow) return text;
  return fmt::format(
      "the dashboard answered 401: this machine's clock is {} s {} of it, and {} s are allowed",
      std::chrono::abs(apart).count(), apart.count() > 0 ? "ahead" : "behind", kSignatureWindow.count());
}

Result<LeasedJob> read_job(const LeaseReply& reply, const Identity& identity) {
  if (!is_job_signed_by(identity.dashboard_public_key, reply.job, reply.signature))
    return fail(Code::integrity, "a job is not signed by this dashboard's key");
  if (string_member(reply.job, "agent_id") != identity.agent_id)
    return fail(Code::integrity, "a job is for another agent");
  if (string_member(reply.job, "audience") != identity.audience)
    return fail(Code::integrity, "a job is of another dashboard");
  LeasedJob job{string_member(reply.job, "job_id").value_or("")};
  if (!is_job_id(job.id)) return fail(Code::integrity, "a job has no id");
  job.type = string_member(reply.job, "job_type").value_or("");
  if (auto it = reply.job.find("payload"); it != reply.job.end() && !it->is_null()) job.payload = *it;
  job.expires_at = TRY(integer_field(reply.job, "expires_at"));
  return job;
}

LeaseAnswer read_job_answer(const net::HttpResponse& response, const Identity& identity) {
  auto json = parse_json(response.body);
  if (!json) return failed_answer("the dashboard answered no JSON");
  if (!json->is_object()) return failed_answer("the dashboard answered no object");
  auto job = json->find("job");
  bool has_none =
      job == json->end() || job->is_null() || *job == Json(false) || (job->is_object() && job->empty());
  if (has_none) return {};
  auto reply = read_lease_reply(*json);
  if (!reply) return failed_answer(reply.error().message);
  auto leased = read_job(*reply, identity);
  if (!leased) return failed_answer(leased.error().message);
  return {.kind = LeaseAnswer::Kind::job, .job = *std::move(leased)};
}

}  // namespace

LeaseAnswer read_lease_answer(const Result<net::HttpResponse>& response, const Identity& identity,
                              std::chrono::seconds poll, Time now) {
  if (!response) return failed_answer(response.error().message);
  switch (response->status) {
    case 200:
    case 201:
      return read_job_answer(*response, identity);
    case 401:
      return {.kind = LeaseAnswer::Kind::revoked, .why = revoked_text(*response, now)};
    case 429:
      return {.kind = LeaseAnswer::Kind::throttled, .retry_after = throttled_wait(*response, poll)};
    case 503:
      return {};
    default:
      return failed_answer(fmt::format("the dashboard answered {}", response->status));
  }
}

std::chrono::milliseconds PollTimer::next(const LeaseAnswer& answer, std::chrono::milliseconds asked_for) {
  using std::chrono::milliseconds;
  if (answer.kind == LeaseAnswer::Kind::failed) {
    wait_ = std::min(wait_ * 2, kMaxWait);
  } else {
    wait_ = poll_;
  }
  if (answer.kind == LeaseAnswer::Kind::job) return milliseconds(0);
  if (answer.kind == LeaseAnswer::Kind::throttled) return answer.retry_after;
  auto wait =
      milliseconds(static_cast<std::int64_t>(static_cast<double>(wait_.count()) * (0.8 + 0.4 * random_())));
  if (answer.kind == LeaseAnswer::Kind::failed) return wait;
  return std::max(milliseconds(0), wait - asked_for);
}

}  // namespace dash::agent
