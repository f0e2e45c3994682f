#include "core/agent/protocol/documents.hpp"

#include <algorithm>

#include "core/base/fields.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {
namespace {

constexpr std::int64_t kMaxLineNumber = 1LL << 40;  // far from an overflow
constexpr std::size_t kMaxListEntries = 64, kMaxEntryBytes = 64, kMaxVersionBytes = 32, kMaxHashBytes = 64;

Result<std::string> text_or_blank(const Json& body, std::string_view name) {
  return TRY(text_field(body, name)).value_or("");
}

Result<std::string> required_text(const Json& body, std::string_view name) {
  auto text = TRY(text_or_blank(body, name));
  if (text.empty()) return fail(Code::invalid, "the member '{}' is missing", name);
  return text;
}

Result<std::vector<std::string>> text_list(const Json& list, std::string_view name, std::size_t max) {
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& item) { return item.is_string(); }))
    return fail(Code::validation, "'{}' must be a list of texts", name);
  if (list.size() > max)
    return fail(Code::invalid, "'{}' has {} entries; at most {}", name, list.size(), max);
  return list.get<std::vector<std::string>>();
}

std::string clean_line(std::string_view line, std::size_t max = kMaxLineChars) {
  std::string cut(trim_partial_character(line.substr(0, max)));
  std::string out;
  for (auto c : to_utf8(cut))
    if (c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) out += c;
  return out;
}

Result<std::optional<std::vector<std::string>>> optional_list(const Json& body, std::string_view name) {
  auto it = body.find(name);
  if (it == body.end() || it->is_null()) return std::nullopt;
  auto list = TRY(text_list(*it, name, kMaxListEntries));
  for (auto& entry : list) entry = clean_line(entry, kMaxEntryBytes);
  return list;
}

}  // namespace

OrderedJson to_json(const EnrolRequest& request) {
  return {{"agent_version", request.agent_version},
          {"enrollment_code", request.code.expose()},
          {"policy_hash", request.policy_hash},
          {"public_key", request.public_key}};
}

Result<EnrolRequest> read_enrol_request(const Json& body) {
  TRY(require_object(body));
  EnrolRequest request;
  request.code = Secret(TRY(required_text(body, "enrollment_code")));
  request.public_key = TRY(required_text(body, "public_key"));
  request.agent_version = clean_line(TRY(text_or_blank(body, "agent_version")), kMaxVersionBytes);
  request.policy_hash = clean_line(TRY(text_or_blank(body, "policy_hash")), kMaxHashBytes);
  return request;
}

OrderedJson to_json(const EnrolReply& reply) {
  return {{"agent_id", reply.agent_id},
          {"name", reply.name},
          {"site", reply.site},
          {"audience", reply.audience},
          {"dashboard_public_key", reply.dashboard_public_key},
          {"poll_interval_s", kPollSeconds},
          {"heartbeat_interval_s", kHeartbeatSeconds},
          {"max_log_lines_per_request", kMaxLinesPerRequest}};
}

Result<EnrolReply> read_enrol_reply(const Json& body) {
  TRY(require_object(body));
  EnrolReply reply;
  reply.agent_id = TRY(required_text(body, "agent_id"));
  reply.name = TRY(text_or_blank(body, "name"));
  reply.site = TRY(text_or_blank(body, "site"));
  reply.audience = TRY(required_text(body, "audience"));
  reply.dashboard_public_key = TRY(required_text(body, "dashboard_public_key"));
  return reply;
}

OrderedJson to_json(const LeaseRequest& request) {
  OrderedJson body = OrderedJson::object();
  if (request.agent_version) body["agent_version"] = *request.agent_version;
  if (request.job_types) body["job_types"] = *request.job_types;
  if (!request.features.empty()) body["features"] = request.features;
  if (request.wait_s > 0) body["wait_s"] = request.wait_s;
  return body;
}

Result<LeaseRequest> read_lease_request(const Json& body) {
  TRY(require_object(body));
  LeaseRequest request;
  request.agent_version = TRY(text_field(body, "agent_version"));
  if (request.agent_version) request.agent_version = clean_line(*request.agent_version, kMaxVersionBytes);
  request.job_types = TRY(optional_list(body, "job_types"));
  request.features = TRY(optional_list(body, "features")).value_or(std::vector<std::string>());
  auto wait = TRY(integer_field(body, "wait_s")).value_or(0);
  request.wait_s = static_cast<int>(std::clamp<std::int64_t>(wait, 0, kMaxWaitSeconds));
  return request;
}

OrderedJson to_json(const LeaseReply& reply) {
  if (reply.job.is_null()) return {{"job", nullptr}, {"poll_interval_s", kPollSeconds}};
  return {{"job", reply.job}, {"signature", reply.signature}, {"heartbeat_interval_s", kHeartbeatSeconds}};
}

Result<LeaseReply> read_lease_reply(const Json& body) {
  TRY(require_object(body));
  LeaseReply reply;
  auto job = body.find("job");
  if (job == body.end() || job->is_null()) return reply;
  if (!job->is_object()) return fail(Code::validation, "'job' must be an object");
  reply.job = *job;
  reply.signature = TRY(required_text(body, "signature"));
  return reply;
}

OrderedJson to_json(const Heartbeat& heartbeat) {
  return {{"message", heartbeat.message}, {"progress_pct", heartbeat.progress_pct}};
}

Result<Heartbeat> read_heartbeat(const Json& body) {
  TRY(require_object(body));
  Heartbeat heartbeat;
  auto percent = TRY(integer_field(body, "progress_pct")).value_or(0);
  heartbeat.progress_pct = static_cast<int>(std::clamp<std::int64_t>(percent, 0, 100));
  heartbeat.message = clean_line(TRY(text_or_blank(body, "message")), kMaxMessageChars);
  return heartbeat;
}

OrderedJson to_json(const LogLines& log) {
  OrderedJson body{{"lines", log.lines}};
  if (log.first > 0) body["first"] = log.first;
  return body;
}

Result<LogLines> read_log_lines(const Json& body) {
  TRY(require_object(body));
  LogLines log;
  auto it = body.find("lines");
  if (it == body.end()) return log;
  log.lines = TRY(text_list(*it, "lines", kMaxLinesPerRequest));
  for (auto& line : log.lines) line = clean_line(line);
  auto first = TRY(integer_field(body, "first"));
  if (first && (*first < 1 || *first > kMaxLineNumber))
    return fail(Code::invalid, "'first' must be a number from 1 to {}", kMaxLineNumber);
  log.first = first.value_or(0);
  return log;
}

OrderedJson to_json(const Completion& completion) {
  return {{"error", completion.error},
          {"result", completion.result},
          {"status", completion.is_completed ? "completed" : "failed"}};
}

Result<Completion> read_completion(const Json& body) {
  TRY(require_object(body));
  Completion completion;
  auto status = TRY(text_or_blank(body, "status"));
  if (status != "completed" && status != "failed")
    return fail(Code::invalid, "status must be 'completed' or 'failed'");
  completion.is_completed = status == "completed";
  if (auto it = body.find("result"); it != body.end() && !it->is_null()) {
    if (!it->is_object()) return fail(Code::validation, "'result' must be an object");
    completion.result = *it;
  }
  completion.error = clean_line(TRY(text_or_blank(body, "error")), kMaxMessageChars);
  return completion;
}

OrderedJson to_json(const SecretRequest& request) {
  return {{"connection_ref", request.ref}, {"reply_key", request.reply_key}};
}

Result<SecretRequest> read_secret_request(const Json& body) {
  TRY(require_object(body));
  SecretRequest request;
  request.ref = TRY(text_or_blank(body, "connection_ref"));
  request.reply_key = TRY(text_or_blank(body, "reply_key"));
  return request;
}

}  // namespace dash::agent
