// Azure Blob Storage by its REST API (learn.microsoft.com, Blob service REST API). The first upload makes the
// container. Parts are blocks. The service drops uncommitted blocks after a week, and has no call to drop
// them earlier. Opened by registry.cpp.
#pragma once
#include <memory>

#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::azure_blob {

// Settings: storage_obj_cloud2_account, _account_key (else the service principal of the cloud's setup),
// _container, _endpoint, _path_style, _ca_file; cloud2_authority_host. Code::invalid names what is missing or
// wrong.
Result<std::unique_ptr<ObjectStore>> open_azure_blob(const config::Values& values, net::HttpClient& http,
                                                     const Clock& clock);

}  // namespace dash::storage::azure_blob
