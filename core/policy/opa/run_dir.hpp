// A private folder (0700) with a short path, for the engine's sockets and the snapshots that it reads.
// Removed when destroyed; one that a killed process left behind is removed by the next. When we are root it
// belongs to the user that the engine becomes.
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
  // A new folder in it, by number. Nobody but us and the engine may enter.
  Result<std::string> folder();
  // Writes files below a folder of ours, making what lies between.
  Result<void> write(const std::string& folder, const std::vector<PolicyFile>& files) const;
  static void remove(const std::string& folder);

 private:
  RunDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;  // held while we live: how others know that the folder is not stale
  int folders_ = 0;
};

}  // namespace dash::policy
