// The folders of one run. Its work folder, work/<job>/ of the data folder (0700), has the bytes that its program
// works on. Its secrets folder is in memory (a tmpfs), so that no secret reaches a disk. Both go with this object.
// A folder is locked (flock(2)) while its run lasts; servers remove what a crash left.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/fd.hpp"

namespace dash::jobs {

class RunFolder {
 public:
  // Makes the work folder of the job, empty. Code::internal when it cannot be made.
  static Result<RunFolder> make(const std::string& data_dir, const std::string& job_id);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();  // removes both folders with all that is in them

  const std::string& work() const { return work_; }
  // Makes the secrets folder on its first call. Code::conflict where no tmpfs can be had; the message says what
  // helps.
  Result<std::string> secrets();
  // Writes a file (0600) of the secrets folder and returns its path. `name` has no slash.
  Result<std::string> add_secret(std::string_view name, std::string_view secret);

 private:
  RunFolder(std::string data_dir, std::string job_id, std::string work, Fd lock);
  std::string data_dir_, job_id_, work_, secrets_;
  bool is_mounted_ = false;
  Fd lock_;
};

// Returns whether a tmpfs for secrets can be had here. Code::conflict says why not.
Result<void> can_keep_secrets(const std::string& data_dir);

// Removes what runs of dead processes left in this data folder and its secrets folders, except for runs that a
// supervisor still ends. May be called at any time.
void remove_leftover_runs(const std::string& data_dir);

}  // namespace dash::jobs
