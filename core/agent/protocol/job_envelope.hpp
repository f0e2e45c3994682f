// A job as the dashboard sends it to an agent: an object that the dashboard's key signs as it stands, members
// that the agent does not know included.
#pragma once
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/crypto/keys.hpp"

namespace dash::agent {

// Returns the signature over the canonical JSON of `job`, in base64.
std::string sign_job(const crypto::Ed25519Key& dashboard_key, const Json& job);
// `dashboard_public_key` and `signature` are standard base64, read strictly.
bool is_job_signed_by(std::string_view dashboard_public_key, const Json& job, std::string_view signature);

}  // namespace dash::agent
