// The sums of an upload's parts and of the object that they make. The service reports only that of the whole. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/store/store.hpp"

namespace dash::storage::gcs {

// Returns the result of put_part(): CRC32C of the part's bytes, 8 hex digits.
std::string part_ref(std::string_view bytes);

// Returns the sum that the object must have, as the API writes it; nullopt when a part's is unknown.
std::optional<std::string> expected_crc32c(const std::vector<StagedPart>& parts);

}  // namespace dash::storage::gcs
