// The state of the instance for /readyz and /metrics. The checks run on two threads of their own: those of
// each response, which waits for them for a moment, and those of the background. A check that hangs delays no
// other route, and the response names it. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/metrics.hpp"
#include "daemon/http/http.hpp"
#include "daemon/server/server.hpp"

namespace dash::daemon {

inline constexpr std::chrono::milliseconds kCheckTimeout{2'000};
// From the end of one round of checks to the beginning of the next.
inline constexpr std::chrono::milliseconds kCheckInterval{3'000};

class Readiness {
 public:
  explicit Readiness(std::vector<ReadyCheck> checks);
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // {"ready": b, "checks": {name: "ok" | sentence}, "degraded": ["name: sentence"]}; 503 when not ready.
  // Background checks are only under `degraded`.
  Response response();
  // Adds the last known state.
  void add_samples(metrics::Samples& out) const;

 private:
  class Round;
  std::unique_ptr<Round> foreground_, background_;
};

}  // namespace dash::daemon
