// Counts the calls of a store, their time and their bytes, as a decorator with the interface of a store
// (core/base/metrics.hpp).
#pragma once
#include <memory>

#include "core/storage/store/store.hpp"

namespace dash::storage {

// `backend` is the id that the metrics have as label.
std::shared_ptr<ObjectStore> with_metrics(std::shared_ptr<ObjectStore> store, std::string backend);

}  // namespace dash::storage
