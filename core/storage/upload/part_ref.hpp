// The member "ref" of the response to a part's PUT: {n, the store's ref, the part's SHA-256, what was seen in
// it}, sealed and bound to the upload, so that any replica can commit by values that the client cannot forge.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::storage {

struct StagedRef {
  std::uint32_t n = 0;
  std::string store_ref;
  std::string sha256;   // 32 raw bytes
  std::string marks{};  // what was seen in the bytes, at most 255 (upload_rules.hpp)
};

std::string seal_part_ref(const Secret& key, std::string_view handle_id, const StagedRef& part);
// Code::invalid when it is not one of this upload's.
Result<StagedRef> open_part_ref(const Secret& key, std::string_view handle_id, std::string_view text);

}  // namespace dash::storage
