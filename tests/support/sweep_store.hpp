// Sweeps a store as `storage gc --apply` does.
#pragma once
#include "core/storage/store/store.hpp"

namespace dash::storage {

// Returns how many leftovers were dropped.
inline Result<std::uint32_t> sweep_store(ObjectStore& store, std::string_view prefix, Time older_than) {
  std::uint32_t swept = 0;
  for (const auto& leftover : TRY(store.leftovers(prefix, older_than))) {
    TRY(store.drop(leftover));
    ++swept;
  }
  return swept;
}

}  // namespace dash::storage
