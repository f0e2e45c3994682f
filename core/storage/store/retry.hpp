// Retry as a decorator with the interface of a store. net::is_transient decides which failures are transient;
// this file decides, operation by operation, which are safe to repeat.
#pragma once
#include <memory>

#include "core/net/http/retry.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

std::shared_ptr<ObjectStore> with_retry(std::shared_ptr<ObjectStore> store, net::Retry retry = net::Retry());

}  // namespace dash::storage
