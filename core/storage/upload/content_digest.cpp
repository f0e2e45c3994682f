#include "core/storage/upload/content_digest.hpp"

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {

Result<void> check_content_digest(std::string_view header, std::string_view sha256) {
  for (auto rest = trim(header); !rest.empty();) {
    auto end = std::min(rest.find(','), rest.size());
    auto member = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto equals = std::min(member.find('='), member.size());
    if (lower(trim(member.substr(0, equals))) != "sha-256") continue;
    auto value = trim(member.substr(std::min(equals + 1, member.size())));
    auto quoted = value.size() > 2 && value.front() == ':' && value.back() == ':';
    auto digest = quoted ? crypto::from_base64(value.substr(1, value.size() - 2)) : std::nullopt;
    if (!digest)
      return fail(Code::invalid, "Content-Digest is malformed; send sha-256=:<base64>: (RFC 9530)");
    if (*digest != sha256)
      return fail(Code::invalid,
                  "the bytes do not match Content-Digest: they changed on the way; send them again");
  }
  return {};
}

}  // namespace dash::storage
