// Replaces secrets that were handed to a program before its output is written anywhere: as they are, in base64
// at any offset, URL-encoded, or escaped as in JSON. Immutable, so thread-safe.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::jobs {

inline constexpr std::size_t kMinSecretBytes = 6;

// Code::unprocessable (422) for a secret that is too short to be found in a log without hiding half of it.
// `name` is what the caller calls it.
Result<void> check_maskable(std::string_view name, std::string_view secret);

class SecretMask {
 public:
  // Secrets below `min_bytes` are left out. Of a secret with several lines each long line is one too.
  explicit SecretMask(const std::vector<std::string>& secrets, std::size_t min_bytes = kMinSecretBytes);

  std::string mask(std::string_view text) const;
  // Masks lines as one text, because a secret may have several, and joins them. A line of `cut_at` bytes or more
  // was cut, so its end is left out as far as it could be the beginning of a secret.
  std::string mask_lines(const std::vector<std::string>& lines, std::size_t cut_at) const;

 private:
  // Appends the masked text to `out`; with `is_cut` without an end that could be the beginning of a secret.
  void mask_into(std::string& out, std::string_view text, bool is_cut) const;
  std::vector<std::string> patterns_;                    // longest first
  std::array<std::vector<std::uint32_t>, 256> by_byte_;  // of the first byte: indexes of patterns_
};

}  // namespace dash::jobs
