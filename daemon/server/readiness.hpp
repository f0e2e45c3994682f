// What /readyz and /metrics say of the instance. The checks run on two threads of its own: those of each
// answer, which it waits for a moment, and those of the background. A check that does not come back holds up
// no other route, and its answer says so. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/http/http.hpp"
#include "daemon/server/server.hpp"

namespace dash::daemon {

inline constexpr std::chrono::milliseconds kCheckTimeout{2'000};
// From the end of one round of checks to the begin of the next.
inline constexpr std::chrono::milliseconds kCheckInterval{3'000};

class Readiness {
 public:
  explicit Readiness(std::vector<ReadyCheck> checks);
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // {"ready": b, "checks": {name: "ok" | sentence}, "degraded": ["name: sentence"]}; 503 when not ready.
  // Those of the background are only under `degraded`.
  Response response();
  // As last known.
  std::string metrics_text() const;

 private:
  class Round;
  std::unique_ptr<Round> foreground_, background_;
};

}  // namespace dash::daemon
