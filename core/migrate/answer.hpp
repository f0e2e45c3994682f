// Reads the responses of an instance's import and rollback, which may be of any shape. Pure.
#pragma once
#include "core/migrate/target.hpp"

namespace dash::migrate {

// Returns {key: reason} of what an import refused, in canonical names; empty when the response has none.
std::map<std::string, std::string> parse_refused(const Json& answer);

// Code::partial: the target took nothing of the import, so it is still unclaimed.
Failure bootstrap_refused(std::string_view target, const std::map<std::string, std::string>& refused);

// Returns nullopt for a response of another shape.
std::optional<TargetWriteResult> parse_write_result(const Json& answer);
std::optional<setup::RollbackResult> parse_rollback_result(const Json& answer);

}  // namespace dash::migrate
