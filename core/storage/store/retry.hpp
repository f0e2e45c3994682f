// Retry as a decorator with the seam of a store. Which failures pass is net::is_transient; which operations
// are safe to ask twice is written here, operation by operation.
#pragma once
#include <memory>

#include "core/net/http/retry.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

std::shared_ptr<ObjectStore> with_retry(std::shared_ptr<ObjectStore> store, net::Retry retry = net::Retry());

}  // namespace dash::storage
