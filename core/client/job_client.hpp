// The jobs of an instance, over its API or its data folder. Documents are those of /api/jobs; the id of a
// batch means all of its jobs.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/jobs/jobs.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

// Receives a log as it grows.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual void on_line(const OrderedJson& line) = 0;            // {n, at, line}
  virtual void on_gap(std::int64_t from, std::int64_t to) = 0;  // lines that are not kept
  virtual void on_interruption(const Error& why) = 0;           // the connection broke; it is resumed
};

class JobClient {
 public:
  virtual ~JobClient() = default;
  virtual Result<OrderedJson> list(const jobs::JobQuery& query) = 0;  // one page
  virtual Result<OrderedJson> show(const std::string& id) = 0;
  virtual Result<OrderedJson> logs(const std::string& id, std::int64_t after) = 0;  // one page
  // Reads the log until the job has ended, and returns its status. Over HTTP it is streamed, and a broken
  // connection is resumed for a minute; an instance that does not stream, and a data folder, are polled.
  virtual Result<std::string> follow(const std::string& id, LogReader& reader) = 0;
  virtual Result<OrderedJson> approve(const std::string& id, jobs::ApprovalKind what,
                                      const std::optional<std::string>& digest) = 0;
  virtual Result<OrderedJson> reject(const std::string& id, const std::string& why,
                                     const std::optional<std::string>& digest) = 0;
  // `body`: {run_at, run_timezone, change_window_id}; blank run_at: now.
  virtual Result<OrderedJson> reschedule(const std::string& id, const Json& body) = 0;
  virtual Result<OrderedJson> cancel(const std::string& id) = 0;  // {job_id, status}
};

std::unique_ptr<JobClient> open_http_job_client(net::ApiClient& api);
std::unique_ptr<JobClient> open_local_job_client(jobs::Jobs& jobs, Principal principal);

}  // namespace dash::client
