// The whole state of an upload, sealed and held by the client (docs/formats.md): a write capability that any
// replica with the same key understands. The server stores nothing about it but the id of a closed one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"

namespace dash::storage {

inline constexpr std::chrono::hours kHandleLifetime{12};  // from begin to commit, not sliding
// a handle issued later than that from now has expired as well
inline constexpr std::chrono::minutes kMaxHandleAhead{5};
inline constexpr std::size_t kMaxHandleBytes = 6144;  // fits one header line beside others

struct Handle {
  std::string id;       // 32 hex digits, random
  std::string user;     // the user who began it; no other may use it
  std::string backend;  // canonical id
  std::string place;    // endpoint and bucket, as ObjectStore::place() returns them
  std::string name;     // the asset's name
  std::uint64_t size = 0;
  std::string ref;  // the store's own id of the upload
  Time issued;
};

// Returns text for a header and for JSON: base64url.
std::string seal_handle(const Secret& key, const Handle& handle);
// Code::invalid, with one sentence for every fault: forged, cut, expired, of another user.
Result<Handle> open_handle(const Secret& key, std::string_view text, std::string_view user, Time now);

}  // namespace dash::storage
