#include "core/jobs/lease.hpp"

#include <algorithm>

namespace dash::jobs {
namespace {

constexpr std::int64_t kLeaseSeconds = 60;
constexpr std::int64_t kShortestLease = 2;
constexpr std::int64_t kTolerance = std::chrono::microseconds(kClockTolerance).count();

}  // namespace

Result<std::int64_t> lease_micros(const Seams& s) {
  auto seconds = TRY(s.settings.integer("job_lease_seconds", kLeaseSeconds));
  return std::max(kShortestLease, seconds) * 1'000'000;
}

std::string lease_is_over(int now, int length) {
  return fmt::format("(lease_until < ${0} OR lease_until > ${0} + coalesce(lease_micros, ${1}) + {2})", now,
                     length, kTolerance);
}

std::string is_due(std::string_view column, int now, std::chrono::microseconds most) {
  return fmt::format("({0} <= ${1} OR {0} > ${1} + {2})", column, now, most.count() + kTolerance);
}

}  // namespace dash::jobs
