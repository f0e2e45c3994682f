// Replaces secrets that were handed to a program before its output is written anywhere: as they are, in base64
// at any offset, URL-encoded, or escaped as in JSON. Immutable, so thread-safe.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stream.hpp"

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
  bool empty() const { return patterns_.empty(); }

 private:
  friend class MaskingSink;
  // Appends the masked beginning of `text` to `out`. Returns how many bytes of it were used: with `is_last`
  // all, else those that no longer text can make part of a secret.
  std::size_t mask_into(std::string& out, std::string_view text, bool is_last) const;
  std::vector<std::string> patterns_;                    // longest first
  std::array<std::vector<std::uint32_t>, 256> by_byte_;  // of the first byte: indexes of patterns_
};

// Masks a stream of bytes on its way to `next`, also secrets that arrive in pieces. What could be the beginning
// of one waits for the next bytes.
class MaskingSink final : public Sink {
 public:
  MaskingSink(const SecretMask& mask, Sink& next) : mask_(mask), next_(next) {}
  Result<void> write(std::string_view bytes) override;
  // Passes on what waits: the stream has ended.
  Result<void> finish();

 private:
  Result<void> pass_on(bool is_last);
  const SecretMask& mask_;
  Sink& next_;
  std::string waiting_;
};

}  // namespace dash::jobs
