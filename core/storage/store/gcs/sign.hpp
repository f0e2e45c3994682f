// How a Google service account gets an access token: a JWT signed by its key, exchanged at its token_uri (RFC
// 7523 §2.1; developers.google.com, "Using OAuth 2.0 for Server to Server Applications"). Pure. Called by
// store.cpp.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/crypto/keys.hpp"

namespace dash::storage::gcs {

inline constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_write";
inline constexpr std::chrono::hours kAssertionLifetime{1};  // the maximum that Google accepts

struct ServiceAccount {
  std::string client_email;
  std::string key_id;
  std::string token_uri;
  crypto::RsaKey key;
};

// Reads the key file that Google issues. Code::invalid names the setting and the member that is wrong, never
// a value.
Result<ServiceAccount> read_service_account(const Secret& json);

// Returns header.claims.signature, RS256.
std::string sign_assertion(const ServiceAccount& account, Time now);

// Returns the form that is posted to token_uri.
std::string token_request(std::string_view assertion);

}  // namespace dash::storage::gcs
