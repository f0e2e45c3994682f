// The answers of an instance's import and rollback, which may be of any shape. Pure.
#pragma once
#include "core/migrate/target.hpp"

namespace dash::migrate {

// {key: reason} of what an import refused, in canonical names; empty when the answer has none.
std::map<std::string, std::string> parse_refused(const Json& answer);

// Code::partial: nothing of an import was taken, so `target` is still nobody's.
Failure bootstrap_refused(std::string_view target, const std::map<std::string, std::string>& refused);

// nullopt when the answer is of another shape.
std::optional<TargetWriteResult> parse_write_result(const Json& answer);
std::optional<setup::RollbackResult> parse_rollback_result(const Json& answer);

}  // namespace dash::migrate
