// Leases of blobs, which the infrastructure program takes for the locks of its states (OpenTofu, backend azurerm).
#pragma once
#include <string>
#include <string_view>

#include "core/storage/store/azure_blob/client.hpp"

namespace dash::storage::azure_blob {

// Where the program that leases a state notes who it is: base64 of JSON.
inline constexpr std::string_view kLockMetadata = "terraformlockid";

// Returns the note of the lease that the headers of a blob show; nullopt when it is not leased.
std::optional<std::string> lease_note(const net::HttpResponse& head);

// Makes an empty blob where none is.
Result<void> take_lease(Client& client, const std::string& key, const std::string& id,
                        const std::string& note);
Result<void> release_lease(Client& client, const std::string& key, const std::string& id);

}  // namespace dash::storage::azure_blob
