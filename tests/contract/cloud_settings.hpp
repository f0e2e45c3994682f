// How the contract suite and the stores' own tests reach the test servers of Azure Blob Storage, Google Cloud
// Storage and Oracle Object Storage (scripts/doubles).
#pragma once
#include "core/storage/store/registry.hpp"

namespace dash::storage {

config::Values azure_settings();        // by the account's key
config::Values azure_oauth_settings();  // by a service principal, over https
config::Values gcs_settings();
config::Values oci_settings();

config::Values azure_with_wrong_key(config::Values settings);
config::Values azure_with_wrong_secret(config::Values settings);
config::Values gcs_with_wrong_key(config::Values settings);  // another key pair than the account's
config::Values oci_with_wrong_user(config::Values settings);

// The bucket that the settings name. Azure's container is made by the product itself.
void prepare_nothing(const config::Values& settings, const StoreDeps& deps);
void make_gcs_bucket(const config::Values& settings, const StoreDeps& deps);
void make_oci_bucket(const config::Values& settings, const StoreDeps& deps);

}  // namespace dash::storage
