#include "core/storage/upload/part_ref.hpp"

#include <fmt/format.h>

#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kDigestBytes = 32;

std::string bound_to(std::string_view handle_id) { return fmt::format("dashctl part ref v1 {}", handle_id); }

}  // namespace

// Plain text: n (4 bytes, big-endian) | SHA-256 (32) | the store's ref.
std::string seal_part_ref(const Secret& key, std::string_view handle_id, const StagedRef& part) {
  std::string plain;
  for (int shift = 24; shift >= 0; shift -= 8) plain += static_cast<char>((part.n >> shift) & 0xff);
  plain += part.sha256;
  plain += part.store_ref;
  return crypto::to_base64url(crypto::seal(key, plain, bound_to(handle_id)));
}

Result<StagedRef> open_part_ref(const Secret& key, std::string_view handle_id, std::string_view text) {
  auto sealed = crypto::from_base64url(text);
  auto plain =
      sealed ? crypto::open(key, *sealed, bound_to(handle_id)) : fail(Code::invalid, "not base64url");
  if (!plain || plain->size() < kNumberBytes + kDigestBytes)
    return fail(Code::invalid,
                "a part's ref is not one that this upload was answered; send the refs as they came");
  StagedRef part;
  for (std::size_t i = 0; i < kNumberBytes; ++i)
    part.n = (part.n << 8) | static_cast<unsigned char>((*plain)[i]);
  part.sha256 = plain->substr(kNumberBytes, kDigestBytes);
  part.store_ref = plain->substr(kNumberBytes + kDigestBytes);
  return part;
}

}  // namespace dash::storage
