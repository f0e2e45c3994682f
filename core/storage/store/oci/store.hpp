// Oracle Cloud Infrastructure Object Storage by its native API (docs.oracle.com, Object Storage Service API
// 20160918). Opened by registry.cpp.
#pragma once
#include <memory>

#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::oci {

// Settings: storage_obj_cloud4_bucket, _namespace (else looked up), _endpoint, _ca_file; cloud4_region and
// the API key of the cloud's setup. Code::invalid names what is missing or wrong.
Result<std::unique_ptr<ObjectStore>> open_oci(const config::Values& values, net::HttpClient& http,
                                              const Clock& clock);

}  // namespace dash::storage::oci
