// The job types that an agent can be granted.
#pragma once
#include <array>
#include <string_view>

#include "core/agent/protocol/automation_job.hpp"
#include "core/agent/protocol/documents.hpp"

namespace dash::agent {

inline constexpr std::array<std::string_view, 2> kJobTypes{kStorageJobType, kAutomationJobType};

}  // namespace dash::agent
