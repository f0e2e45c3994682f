// The ids of the jobs that this agent began, on its disk, so that none is ever done twice. One thread at a time.
#pragma once
#include <deque>
#include <set>
#include <string>

#include "core/base/error.hpp"

namespace dash::agent {

inline constexpr std::size_t kKeptJobIds = 10'000;

class DoneJobs {
 public:
  // Reads the file of the state folder; what a crash tore off its end is dropped, because that job was not begun.
  static Result<DoneJobs> open(const std::string& state_folder);

  bool has(const std::string& id) const { return known_.contains(id); }
  // The id is on the disk when this returns. Forgets all but the newest kKeptJobIds now and then.
  Result<void> add(const std::string& id);

 private:
  explicit DoneJobs(std::string path) : path_(std::move(path)) {}
  Result<void> rewrite();
  void remember(std::string id);
  std::string path_;
  std::deque<std::string> order_;  // oldest first
  std::set<std::string> known_;
  std::size_t lines_ = 0;  // of the file
};

}  // namespace dash::agent
