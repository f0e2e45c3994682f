#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr std::int64_t kDefaultLeaseSeconds = 60;
constexpr std::int64_t kClockToleranceMicros = std::chrono::microseconds(kClockTolerance).count();

}  // namespace

Result<std::int64_t> lease_micros(config::Settings& settings) {
  return TRY(settings.integer("job_lease_seconds", kDefaultLeaseSeconds)) * 1'000'000;
}

std::string lease_expired_condition(int now, int length) {
  return fmt::format("(lease_until < ${0} OR lease_until > ${0} + coalesce(lease_micros, ${1}) + {2})", now,
                     length, kClockToleranceMicros);
}

std::string due_condition(std::string_view column, int now, std::chrono::microseconds max_ahead) {
  return fmt::format("({0} <= ${1} OR {0} > ${1} + {2})", column, now,
                     max_ahead.count() + kClockToleranceMicros);
}

}  // namespace dash::jobs
