#include "core/storage/upload/part_ref.hpp"

#include <fmt/format.h>

#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kDigestBytes = 32;

// A ref with marks is of version 2.
std::string bound_to(std::string_view handle_id, bool has_marks) {
  return fmt::format("dashctl part ref v{} {}", has_marks ? 2 : 1, handle_id);
}

// Reads the rest of the plain text, after number and digest.
bool read_refs(std::string_view rest, bool has_marks, StagedRef& part) {
  if (has_marks) {
    if (rest.empty()) return false;
    auto size = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (rest.size() < size) return false;
    part.marks = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  part.store_ref = rest;
  return true;
}

}  // namespace

// Plain text: n (4 bytes, big-endian) | SHA-256 (32) | in version 2: size of the marks (1), marks | the
// store's ref.
std::string seal_part_ref(const Secret& key, std::string_view handle_id, const StagedRef& part) {
  std::string plain;
  for (int shift = 24; shift >= 0; shift -= 8) plain += static_cast<char>((part.n >> shift) & 0xff);
  plain += part.sha256;
  if (!part.marks.empty()) {
    plain += static_cast<char>(part.marks.size());
    plain += part.marks;
  }
  plain += part.store_ref;
  return crypto::to_base64url(crypto::seal(key, plain, bound_to(handle_id, !part.marks.empty())));
}

Result<StagedRef> open_part_ref(const Secret& key, std::string_view handle_id, std::string_view text) {
  auto sealed = crypto::from_base64url(text);
  bool has_marks = false;
  auto plain =
      sealed ? crypto::open(key, *sealed, bound_to(handle_id, false)) : fail(Code::invalid, "not base64url");
  if (sealed && !plain) {
    has_marks = true;
    plain = crypto::open(key, *sealed, bound_to(handle_id, true));
  }
  StagedRef part;
  if (!plain || plain->size() < kNumberBytes + kDigestBytes ||
      !read_refs(std::string_view(*plain).substr(kNumberBytes + kDigestBytes), has_marks, part))
    return fail(Code::invalid,
                "a part's ref is not one that this upload was answered; send the refs as they came");
  for (std::size_t i = 0; i < kNumberBytes; ++i)
    part.n = (part.n << 8) | static_cast<unsigned char>((*plain)[i]);
  part.sha256 = plain->substr(kNumberBytes, kDigestBytes);
  return part;
}

}  // namespace dash::storage
