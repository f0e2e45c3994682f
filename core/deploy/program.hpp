// The infrastructure program (OpenTofu or Terraform): where it is, and one run of it in a work folder.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/deploy/work_folder.hpp"
#include "core/jobs/runner.hpp"
#include "core/jobs/secret_mask.hpp"
#include "core/net/process/child.hpp"

namespace dash::deploy {

// Returns $IAC_BINARY, else tofu or terraform on the PATH. Code::not_found says what to install or set.
Result<std::string> find_iac_program();

struct ProgramOptions {
  std::string path;
  std::string launcher;  // this binary
  std::vector<std::string> environment;
  std::vector<std::string> secrets;  // replaced in its output
  std::chrono::seconds stop_timeout{600};
};

// How one command of the program ended.
struct ProgramResult {
  net::ExitStatus exit;
  bool is_stopped = false;  // by the job's cancel or the end of this process
  std::string error;        // its first line that begins with "Error:", without that word
};

class Program {
 public:
  Program(ProgramOptions options, const WorkFolder& folder, jobs::RunControl& control);

  // Runs a command; its lines are the job's log.
  Result<ProgramResult> run(const std::vector<std::string>& arguments);
  // Runs a command that prints a document. Code::upstream when it fails.
  Result<std::string> print(const std::vector<std::string>& arguments);

 private:
  Result<ProgramResult> run_with(const std::vector<std::string>& arguments, Sink& out, Sink& err);
  ProgramOptions options_;
  const jobs::SecretMask mask_;
  const WorkFolder& folder_;
  jobs::RunControl& control_;
};

}  // namespace dash::deploy
