// The documents of the agent's protocol, as both sides write and read them. Unknown members pass, so that
// either side may be the newer one. Readers fail with Code::validation when a member has the wrong type, and
// Code::invalid when its value is none.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/secret.hpp"

namespace dash::agent {

// What both sides say and bound.
inline constexpr int kPollSeconds = 5;
inline constexpr int kHeartbeatSeconds = 60;
inline constexpr int kMaxWaitSeconds = 25;
inline constexpr std::size_t kMaxLinesPerRequest = 500;
inline constexpr std::size_t kMaxLineChars = 8192;
inline constexpr std::int64_t kMaxLinesPerJob = 20000;
inline constexpr std::size_t kMaxResultBytes = 256 << 10;
inline constexpr std::size_t kMaxMessageChars = 2000;
inline constexpr std::string_view kRangesFeature = "ranges";  // the agent reads parts of files
inline constexpr std::string_view kPagesFeature = "pages";    // the agent lists page by page
inline constexpr std::string_view kStorageJobType = "agent_storage";
// A job that the agent's policy refused fails with a text that begins so.
inline constexpr std::string_view kPolicyRefusal = "Agent policy refused: ";

struct EnrolRequest {
  Secret code;
  std::string public_key;  // standard base64 of 32 bytes
  std::string agent_version, policy_hash;
};
OrderedJson to_json(const EnrolRequest& request);
Result<EnrolRequest> read_enrol_request(const Json& body);

struct EnrolReply {
  std::string agent_id, name, site, audience;
  std::string dashboard_public_key;  // standard base64 of 32 bytes
};
OrderedJson to_json(const EnrolReply& reply);
Result<EnrolReply> read_enrol_reply(const Json& body);

struct LeaseRequest {
  std::optional<std::string> agent_version;           // absent: as before
  std::optional<std::vector<std::string>> job_types;  // what the agent can and its policy allows
  int wait_s = 0;                                     // 0 to kMaxWaitSeconds
  std::vector<std::string> features;
};
OrderedJson to_json(const LeaseRequest& request);
Result<LeaseRequest> read_lease_request(const Json& body);

struct LeaseReply {
  Json job;  // null: none
  std::string signature;
};
OrderedJson to_json(const LeaseReply& reply);
Result<LeaseReply> read_lease_reply(const Json& body);

struct Heartbeat {
  int progress_pct = 0;
  std::string message;
};
OrderedJson to_json(const Heartbeat& heartbeat);
Result<Heartbeat> read_heartbeat(const Json& body);

struct LogLines {
  std::vector<std::string> lines;
  // The number of the first one in the job, from 1, so that lines that are sent again are known. 0: not numbered, as
  // the deployed agents send them.
  std::int64_t first = 0;
};
OrderedJson to_json(const LogLines& log);
// Cuts a line at kMaxLineChars and strips its control characters, the tab excepted. Code::invalid for more
// than kMaxLinesPerRequest, and for a number that is none.
Result<LogLines> read_log_lines(const Json& body);

struct Completion {
  bool is_completed = false;  // else failed
  Json result = Json::object();
  std::string error;
};
OrderedJson to_json(const Completion& completion);
Result<Completion> read_completion(const Json& body);

struct SecretRequest {
  std::string ref;        // member connection_ref: the share
  std::string reply_key;  // standard base64
};
OrderedJson to_json(const SecretRequest& request);
Result<SecretRequest> read_secret_request(const Json& body);

}  // namespace dash::agent
