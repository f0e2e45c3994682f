// What this process counts, for /metrics, in one table. prometheus-cpp keeps the numbers and writes the text;
// metrics.cpp alone knows it. Process-wide, like the log. Thread-safe.
#pragma once
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dash::metrics {

enum class Type { counter, gauge, histogram };

// `labels` has the names of its labels, blank ones at the end. A label's value is one of few: never an id, a
// path or a name that a user chose.
struct Metric {
  std::string_view name;
  Type type;
  std::string_view help;
  std::array<std::string_view, 3> labels = {};
};

inline constexpr Metric kHttpRequests{"dashctl_http_requests_total",
                                      Type::counter,
                                      "Requests answered, by route and status class.",
                                      {"method", "route", "status"}};
inline constexpr Metric kHttpSeconds{"dashctl_http_request_seconds", Type::histogram,
                                     "From the end of a request's head to the end of its answer."};
inline constexpr Metric kDecisionSeconds{
    "dashctl_decision_seconds", Type::histogram, "Time of a decision of the gate.", {"verdict", "action"}};
inline constexpr Metric kEngineBuilds{
    "dashctl_engine_builds_total", Type::counter, "Starts of the policy engine with new rules.", {"result"}};
inline constexpr Metric kEngineRestarts{"dashctl_engine_restarts_total", Type::counter,
                                        "Starts of the policy engine because it had ended."};
inline constexpr Metric kAuditAppendSeconds{"dashctl_audit_append_seconds", Type::histogram,
                                            "Time until an audit entry of its own is durable."};
inline constexpr Metric kAuditEntries{"dashctl_audit_entries_total", Type::counter,
                                      "Audit entries appended by this process."};
inline constexpr Metric kStoreBytes{"dashctl_store_bytes_total",
                                    Type::counter,
                                    "Bytes read from or written to a backend.",
                                    {"backend", "operation"}};
inline constexpr Metric kStoreSeconds{"dashctl_store_seconds",
                                      Type::histogram,
                                      "Time of a call of a backend, retries included.",
                                      {"backend", "operation", "result"}};
inline constexpr Metric kRetries{
    "dashctl_retries_total", Type::counter, "Calls made again, by the failure before.", {"class"}};
inline constexpr Metric kQueuedJobs{
    "dashctl_jobs_queued", Type::gauge, "Jobs that wait, by kind and state.", {"action", "state"}};
inline constexpr Metric kOldestJob{
    "dashctl_jobs_oldest_seconds", Type::gauge, "Age of the oldest job that could run now.", {"action"}};
inline constexpr Metric kDatabaseConnections{
    "dashctl_database_connections", Type::gauge, "Connections to the database for reading.", {"state"}};
inline constexpr Metric kDatabaseLimit{"dashctl_database_connections_limit", Type::gauge,
                                       "How many of them there may be."};
inline constexpr Metric kDatabaseWaiting{"dashctl_database_waiting", Type::gauge,
                                         "Reads that wait for a connection to the database."};
inline constexpr Metric kAgentsOnline{"dashctl_agents_online", Type::gauge,
                                      "Agents that were heard of in the last minutes."};
inline constexpr Metric kConnections{"dashctl_connections", Type::gauge, "Open connections."};
inline constexpr Metric kPartBuffersFree{"dashctl_part_buffers_free", Type::gauge,
                                         "Transfer buffers of 8 MiB that are free."};
inline constexpr Metric kPoolThreads{
    "dashctl_pool_threads", Type::gauge, "Threads of a worker pool.", {"pool"}};
inline constexpr Metric kPoolBusy{"dashctl_pool_busy", Type::gauge, "Threads at work.", {"pool"}};
inline constexpr Metric kPoolQueued{"dashctl_pool_queued", Type::gauge, "Requests that wait.", {"pool"}};
inline constexpr Metric kPoolRefused{
    "dashctl_pool_refused_total", Type::counter, "Requests refused because the queue was full.", {"pool"}};
inline constexpr Metric kCheckOk{
    "dashctl_check_ok", Type::gauge, "Whether a check of /readyz passed last; 0: it did not.", {"check"}};
inline constexpr Metric kDegraded{"dashctl_degraded", Type::gauge,
                                  "Checks that failed while the instance stays ready."};

// All of the above: /metrics describes each, whether it has a value yet or not.
std::span<const Metric* const> all();

// `labels` has a value for each of the metric's labels.
void add(const Metric& counter, std::vector<std::string> labels = {}, double amount = 1);
void set(const Metric& gauge, std::vector<std::string> labels, double value);
void observe(const Metric& histogram, std::vector<std::string> labels, std::chrono::duration<double> took);

// A value that is read when /metrics is asked.
struct Sample {
  const Metric* metric;
  std::vector<std::string> labels;
  double value;
};
using Samples = std::vector<Sample>;

// Returns what was counted, and `samples`, in the text format of Prometheus (exposition format 0.0.4).
std::string expose(const Samples& samples);

// Observes the time from its making to its end.
class Timer {
 public:
  explicit Timer(const Metric& histogram) : histogram_(histogram) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { observe(histogram_, {}, std::chrono::steady_clock::now() - began_); }

 private:
  const Metric& histogram_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace dash::metrics
