// Follows a job of an instance over its API until it has ended. Thread-safe: one thread waits, another may
// cancel.
#pragma once
#include <functional>
#include <mutex>
#include <string>

#include "core/jobs/job.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class JobFollower {
 public:
  explicit JobFollower(net::ApiClient& api) : api_(api) {}

  // Returns whether any process runs the instance's jobs. Another kind of dashboard has no such page.
  Result<bool> has_workers();
  // Polls the job and returns its result when it completed. Code::upstream when it failed; Code::conflict with
  // `unfinished`, a sentence about what is left, when it ended otherwise. An instance that does not answer for
  // a while is asked again, because the job goes on.
  Result<Json> wait(const std::string& job_id, std::string_view unfinished,
                    const std::function<void(const jobs::JobProgress&)>& on_progress);
  // Cancels the job that another thread waits for.
  void cancel();

 private:
  net::ApiClient& api_;
  std::mutex mutex_;
  std::string job_id_;  // guarded by mutex_
};

}  // namespace dash::client
