// The state of one deploy, served to the one program that works on it: the protocol of the backend "http" of
// Terraform and OpenTofu, on a loopback port with a random password. The program gets no store's credentials.
// Thread-safe.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/secret.hpp"
#include "core/deploy/records.hpp"
#include "core/net/http/loopback_server.hpp"
#include "core/storage/settings/locked_state.hpp"

namespace dash::deploy {

// Returns the addresses of the resources that the state manages; none for a text that is no state.
std::vector<std::string> managed_resources(std::string_view state);
// "ops@host (OperationTypeApply, since 2026-…, lock 3f…)"
std::string holder_text(const storage::StateLock& lock);

class StateServer {
 public:
  // `state` and `records` outlive it; `job_id` is the deploy whose state it is.
  static Result<std::unique_ptr<StateServer>> start(storage::LockedState& state, Records& records,
                                                    std::string job_id);

  // NAME=value: what the program needs to find it.
  std::vector<std::string> environment() const;
  const Secret& password() const { return password_; }
  // Returns who held the lock when the program asked for it and did not get it.
  std::optional<storage::StateLock> foreign_lock() const;

 private:
  StateServer(storage::LockedState& state, Records& records, std::string job_id);
  net::LoopbackResponse answer(const net::LoopbackRequest& request);
  Result<net::LoopbackResponse> handle(const net::LoopbackRequest& request);
  Result<net::LoopbackResponse> lock(const std::string& info);
  Result<net::LoopbackResponse> unlock(const std::string& info);
  Result<net::LoopbackResponse> write(const net::LoopbackRequest& request);

  storage::LockedState& state_;
  Records& records_;
  const std::string job_id_;
  const Secret password_;
  mutable std::mutex mutex_;
  std::optional<storage::StateLock> foreign_lock_;
  std::unique_ptr<net::LoopbackServer> server_;  // ends before the rest
};

}  // namespace dash::deploy
