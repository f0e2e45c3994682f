// What makes a change real: an executable of the operator for each action, in one folder, named as the action
// with hyphens (cloud1-vm-deploy, or aws-ec2-deploy; config-mgmt-run for the automation runner). It reads one
// JSON document on stdin, its stdout lines are the job's log, a line
// {"resource_id": "…"} names what was made, exit status 0 means done, SIGTERM asks it to stop.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::jobs {

// How a run ended.
enum class Ended { done, failed, stopped };
struct Outcome {
  Ended ended = Ended::failed;
  std::string error;  // of a failed one
};

class Executors {
 public:
  // `launcher`: our own binary, through which an executable dies with us; empty starts it directly (tests).
  Executors(std::string folder, std::string launcher)
      : folder_(std::move(folder)), launcher_(std::move(launcher)) {}

  // Canonical action → path, as the folder is now. A file that others may write is left out, with a warning
  // in the log.
  std::map<std::string, std::string> available() const;
  std::string expected_path(const std::string& action) const;

  // `line` gets each finished line of its output; `should_stop` is asked several times a second.
  Result<Outcome> run(const std::string& path, const Json& document,
                      const std::function<void(std::string)>& line,
                      const std::function<bool()>& should_stop) const;

 private:
  std::string folder_;
  std::string launcher_;
};

}  // namespace dash::jobs
