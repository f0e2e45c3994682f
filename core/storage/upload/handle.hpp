// The whole state of an open upload, sealed and held by the client (docs/formats.md): a
// write capability that any replica with the same key understands. Nothing about it is kept on the server
// but, when it was closed, its id.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"

namespace dash::storage {

inline constexpr std::chrono::hours kHandleLifetime{12};   // from begin to commit, not sliding
inline constexpr std::chrono::minutes kMaxHandleAhead{5};  // issued later than that from now: expired as well
inline constexpr std::size_t kMaxHandleBytes = 6144;       // fits one header line beside others

struct Handle {
  std::string id;       // 32 hex digits, random
  std::string user;     // who began it; nobody else may use it
  std::string backend;  // canonical id
  std::string place;    // which bucket of which endpoint, as the store names itself
  std::string name;     // the asset's name
  std::uint64_t size = 0;
  std::string ref;  // the store's own word for the upload
  Time issued;
};

// Text for a header and for JSON: base64url.
std::string seal_handle(const Secret& key, const Handle& handle);
// Code::invalid, one sentence for all that can be wrong: forged, cut, expired, somebody else's.
Result<Handle> open_handle(const Secret& key, std::string_view text, std::string_view user, Time now);

}  // namespace dash::storage
