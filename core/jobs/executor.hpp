// Executors make a change real. An executor is the operator's executable for one action, in one folder, named
// as the action with hyphens (cloud1-vm-deploy, or aws-ec2-deploy; config-mgmt-run for the automation
// runner). It reads one JSON document from stdin. Its stdout lines are the job's log; the line
//   {"resource_id": "…"}
// names the new resource. Exit status 0 means done, SIGTERM stops it.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/jobs/job.hpp"
#include "core/jobs/plan.hpp"
#include "core/net/process/child.hpp"

namespace dash::jobs {

// How a run ended. plan_waits: it made a plan, which needs an approval, and changed nothing.
enum class RunStatus { done, failed, stopped, plan_waits };
struct RunResult {
  RunStatus status = RunStatus::failed;
  std::string error{};                         // of a failed one
  std::string reason = "executor";             // the word of a failed one
  OrderedJson result{};                        // the job's `result`; null for none
  std::optional<std::string> resource_id{};    // the provider's id of what a deploy made
  std::optional<int> exit_status{}, signal{};  // of the program that did the work
  std::optional<Plan> plan{};                  // of one that waits
};
RunResult failed_run(const Error& error);
// Returns `result` with how its program ended.
RunResult with_exit(RunResult result, const net::ExitStatus& exit);

// Bytes of a line of an executable's output; the rest of a longer one is dropped.
inline constexpr std::size_t kMaxExecutorLine = 4096;

// The document that an executable reads about its job.
Json executor_document(const Job& job, const Json& parameters);

// Returns $DASHCTL_EXECUTOR_DIR, else deploy/ in the data directory.
std::string executor_folder(const std::string& data_dir);

// An executable that exists and is not run.
struct RefusedExecutor {
  std::string action;  // canonical
  std::string path;
  std::string reason;  // what is unsafe, and what to change
};

class Executors {
 public:
  // `launcher` is this binary, through which an executable dies with this process; empty starts it directly
  // (tests).
  Executors(const std::string& folder, std::string launcher);
  // `user` is the user that runs them, where that is not this process's.
  Executors(const std::string& folder, std::string launcher, uid_t user);

  // Returns canonical action → path, as the folder is now. An executable is left out when other users than
  // root and the server's own or may write it or a folder above it.
  std::map<std::string, std::string> available() const;
  std::vector<RefusedExecutor> refused() const;
  std::string expected_path(const std::string& action) const;
  // Returns the path of an automation runner, the executable runner-<name> of the folder. Code::conflict names
  // what is missing or unsafe.
  Result<std::string> find_runner(const std::string& name) const;

  // Runs an executor. `line` gets each finished line of its output. `should_stop` is called several times a
  // second.
  Result<RunResult> run(const std::string& path, const Json& document,
                        const std::function<void(std::string)>& line,
                        const std::function<bool()>& should_stop) const;

 private:
  std::string folder_;  // absolute
  std::string launcher_;
  uid_t user_;
};

}  // namespace dash::jobs
