// Copies of an object that the service makes itself (Objects: rewrite).
#pragma once
#include <string>

#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/gcs/codec.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::gcs {

// `object_json` has the new object's metadata. Code::precondition when the source is another by now, or when the
// target exists and must not; Code::integrity when the copy is shorter or longer.
Result<StoredObject> rewrite(Client& client, const InsideCopy& copy, const std::string& object_json);

}  // namespace dash::storage::gcs
