// Google Cloud Storage by its JSON API (cloud.google.com, Cloud Storage JSON API; "Resumable uploads"). A
// session becomes an object with its last part. So uploads go to .dashctl-uploads/<random> at the bucket's
// root, which no listing shows. Commit is a rewrite to the asset's name inside of the service, then a delete.
// Opened by registry.cpp.
#pragma once
#include <memory>

#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::gcs {

// Settings: storage_obj_cloud3_bucket, _endpoint, _ca_file; cloud3_service_account_json, whose token_uri
// issues the tokens. Code::invalid names what is missing or wrong.
Result<std::unique_ptr<ObjectStore>> open_gcs(const config::Values& values, net::HttpClient& http,
                                              const Clock& clock);

}  // namespace dash::storage::gcs
