// A private folder (0700) with a short path, for the engine's sockets and the snapshots that it reads. It is
// removed when destroyed; one of a killed process is removed by the next. When this process is root the
// folder belongs to the user that the engine becomes.
#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/policy/snapshot.hpp"

namespace dash::policy {

class RunDir {
 public:
  static Result<RunDir> make();
  RunDir(RunDir&& other) noexcept;
  RunDir& operator=(RunDir&&) = delete;
  ~RunDir();

  const std::string& path() const { return path_; }
  // Makes a new folder in it, by number. Only this process and the engine can enter it.
  Result<std::string> folder();
  // Writes files below one of the folders above, and makes the folders between.
  Result<void> write(const std::string& folder, const std::vector<PolicyFile>& files) const;
  static void remove(const std::string& folder);

 private:
  RunDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;  // held for life, so that other processes see that the folder is in use
  int folders_ = 0;
};

}  // namespace dash::policy
