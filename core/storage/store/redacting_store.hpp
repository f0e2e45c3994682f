// A store for a user who is no admin: its errors do not reveal the store's address. The whole message goes to
// the log. Called by stores.cpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/storage/store/store.hpp"

namespace dash::storage {

// Replaces every address in the message, and the host of `place` (ObjectStore::place(), or empty) without a
// scheme, by "the store". The original text is stored in `detail`.
Error redact_addresses(Error error, std::string_view place);

std::shared_ptr<ObjectStore> with_redaction(std::shared_ptr<ObjectStore> store);

}  // namespace dash::storage
