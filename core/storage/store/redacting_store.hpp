// A store for somebody who is no admin: its errors say what happened, and not at which address the store is.
// The whole message goes to the log. Called by stores.cpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/storage/store/store.hpp"

namespace dash::storage {

// Every address in the message, and the host of `place` (ObjectStore::place(), or empty) without one, becomes
// "the store"; what was there before is kept in `detail`.
Error redact_addresses(Error error, std::string_view place);

std::shared_ptr<ObjectStore> with_redaction(std::shared_ptr<ObjectStore> store);

}  // namespace dash::storage
