#include "core/storage/upload/handle.hpp"

#include "core/base/json.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kAad = "dashctl upload handle v1";

Failure invalid_handle() {
  return fail(Code::invalid,
              "the upload handle is not valid: it expired, was changed, or was issued to another user; "
              "begin the upload again");
}

}  // namespace

std::string seal_handle(const Secret& key, const Handle& handle) {
  OrderedJson text{{"id", handle.id},           {"user", handle.user},
                   {"backend", handle.backend}, {"place", handle.place},
                   {"name", handle.name},       {"size", handle.size},
                   {"ref", handle.ref},         {"issued", to_micros(handle.issued)}};
  return crypto::to_base64url(crypto::seal(key, dump_json(text), kAad));
}

Result<Handle> open_handle(const Secret& key, std::string_view text, std::string_view user, Time now) {
  if (text.size() > kMaxHandleBytes) return invalid_handle();
  auto sealed = crypto::from_base64url(text);
  if (!sealed) return invalid_handle();
  auto plain = crypto::open(key, *sealed, kAad);
  if (!plain) return invalid_handle();
  auto json = TRY(parse_json(*plain));
  Handle handle{json.at("id"),   json.at("user"), json.at("backend"), json.at("place"),
                json.at("name"), json.at("size"), json.at("ref"),     from_micros(json.at("issued"))};
  bool is_expired = now >= handle.issued + kHandleLifetime || handle.issued > now + kMaxHandleAhead;
  if (handle.user != user || is_expired) return invalid_handle();
  return handle;
}

}  // namespace dash::storage
