// The first cloud's object store, S3, and compatible servers. Called by registry.cpp alone.
#pragma once
#include <memory>

#include "core/base/clock.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::s3 {

// Settings: address.hpp, cloud1_access_key_id, cloud1_secret_access_key. Sends no request yet.
Result<std::unique_ptr<ObjectStore>> open_s3(const config::Values& values, net::HttpClient& http,
                                             const Clock& clock);

}  // namespace dash::storage::s3
