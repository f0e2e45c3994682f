#include "core/jobs/digest.hpp"

#include <algorithm>

#include "core/crypto/hash.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kVersion = "v2:";

std::string versioned(const Json& covered) {
  return fmt::format("{}{}", kVersion, crypto::to_hex(crypto::sha256(dump_json(covered))));
}

Json micros_or_null(const std::optional<Time>& time) { return time ? Json(to_micros(*time)) : Json(nullptr); }

// Covers action, request and rule set, which is all of the first version.
std::string change_digest(const Job& job, const policy::Decision& decision) {
  if (decision.gated) return policy::approval_digest(decision, job.request);
  return "not_gated:" + crypto::to_hex(crypto::sha256(job.action + "\n" + dump_json(job.request)));
}

std::string with_time(const Job& job, std::string change) {
  Json covered = {{"change", std::move(change)},
                  {"run_at", micros_or_null(job.run_at)},
                  {"window_ends_at", micros_or_null(job.window_ends_at)},
                  {"window", job.change_window_id ? Json(*job.change_window_id) : Json(nullptr)}};
  if (!job.plan_digest.empty()) covered["plan"] = job.plan_digest;
  return versioned(covered);
}

}  // namespace

std::string covered_digest(const Job& job, const policy::Decision& decision) {
  return with_time(job, change_digest(job, decision));
}

bool is_covered(const Job& job, const policy::Decision& decision) {
  auto change = change_digest(job, decision);
  bool has_version = job.approval_digest.starts_with(kVersion);
  return job.approval_digest == (has_version ? with_time(job, change) : change);
}

std::string batch_digest(const std::vector<Job>& jobs) {
  auto covered = Json::array();
  for (const auto& job : jobs) covered.push_back({{"job", job.id}, {"digest", job.approval_digest}});
  bool none = std::ranges::all_of(jobs, [](const Job& job) { return job.approval_digest.empty(); });
  return none ? std::string() : versioned(covered);
}

}  // namespace dash::jobs
