// What makes a change real: an executable of the operator for each action, in one folder, named as the action
// with hyphens (cloud1-vm-deploy, or aws-ec2-deploy; config-mgmt-run for the automation runner). It reads one
// JSON document on stdin, its stdout lines are the job's log, a line
// {"resource_id": "…"} names what was made, exit status 0 means done, SIGTERM asks it to stop.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::jobs {

// How a run ended.
enum class RunStatus { done, failed, stopped };
struct RunResult {
  RunStatus status = RunStatus::failed;
  std::string error;  // of a failed one
};

// $DASHCTL_EXECUTOR_DIR, else deploy/ in the data directory.
std::string executor_folder(const std::string& data_dir);

// An executable that is there and is not run.
struct RefusedExecutor {
  std::string action;  // canonical
  std::string path;
  std::string reason;  // what is unsafe, and what to change
};

class Executors {
 public:
  // `launcher`: our own binary, through which an executable dies with us; empty starts it directly (tests).
  Executors(const std::string& folder, std::string launcher);
  // `user`: who runs them, where that is not this process.
  Executors(const std::string& folder, std::string launcher, uid_t user);

  // Canonical action → path, as the folder is now. What others than root and the server's user own or may
  // write, the file or a folder above it, is left out.
  std::map<std::string, std::string> available() const;
  std::vector<RefusedExecutor> refused() const;
  std::string expected_path(const std::string& action) const;

  // `line` gets each finished line of its output; `should_stop` is asked several times a second.
  Result<RunResult> run(const std::string& path, const Json& document,
                        const std::function<void(std::string)>& line,
                        const std::function<bool()>& should_stop) const;

 private:
  std::string folder_;  // absolute
  std::string launcher_;
  uid_t user_;
};

}  // namespace dash::jobs
