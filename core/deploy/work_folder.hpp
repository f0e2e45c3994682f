// The folder in which the program of one job works: the module's files, its settings, the values and the
// credentials. Only this user can enter it. It goes with the run, unless it holds a state that is nowhere else.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/deploy/credentials.hpp"
#include "core/deploy/module.hpp"

namespace dash::deploy {

struct WorkContents {
  const ModuleFolder& module;
  Json values;                  // of the module's variables
  std::string dependency_lock;  // of the plan that is applied; empty: the module's own, or a new one
  std::string providers;        // the mirror that is asked first; empty: none
};

// How the last program of a work folder ended.
enum class ProgramEnd { runs, in_order, unknown };

class WorkFolder {
 public:
  // `root` holds one folder a job.
  WorkFolder(const std::string& root, const std::string& job_id);

  // Makes it. Code::conflict when it is there. `state_job` is the deploy whose state the job changes.
  Result<void> create(const std::string& state_job, const WorkContents& contents);
  Result<void> write_credentials(const Credentials& credentials);
  Result<void> remove() const;

  const std::string& path() const { return path_; }
  std::string program_folder() const { return path_ + "/module"; }  // where it runs
  std::string home() const { return path_ + "/home"; }
  std::string plan_file() const { return path_ + "/plan.bin"; }
  std::string values_file() const { return path_ + "/values.tfvars.json"; }
  std::string end_file() const { return path_ + "/ended"; }
  // NAME=value: everything that does not come from the job.
  std::vector<std::string> environment() const;

  // Returns the deploy whose state the job changed; empty for a folder that was not made whole.
  std::string state_job() const;
  // Notes the program that runs now.
  Result<void> note_program(int pid) const;
  ProgramEnd program_end() const;
  // Returns the state that the program could not write.
  Result<std::optional<std::string>> errored_state() const;
  Result<std::string> dependency_lock() const;

 private:
  std::string path_;
};

// Returns the text of the program's settings file: no call home, and the providers of `mirror` from there alone.
Result<std::string> program_settings(const std::string& mirror);

}  // namespace dash::deploy
