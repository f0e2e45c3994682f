// The advisory secret scan of uploads: it reports what looks like a credential to the uploader, never
// refuses, and never repeats the credential. Linear in any text. It reads only the first part of a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"

namespace dash::storage {

struct SecretFinding {
  std::string rule;
  std::size_t line = 0;  // from 1
  std::string match;     // redacted: "****", or the first three and last two characters
};

inline constexpr std::size_t kMaxFindings = 100;

// Returns findings by line, then by rule; one a rule and line. None for files that are no text: an extension
// of no text file, a NUL near the start, not UTF-8 (except a character cut by the part's end), or an
// encrypted vault file.
std::vector<SecretFinding> scan_for_secrets(std::string_view name, std::string_view first_part);

// [{"rule","line","match"}]
OrderedJson to_json(const std::vector<SecretFinding>& findings);

}  // namespace dash::storage
