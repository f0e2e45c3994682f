// A resumable upload (cloud.google.com, "Resumable uploads"): begin, send bytes at an offset, ask what is
// kept, cancel. The service keeps what it got of a part in whole 256 KiB, so a part may take several
// requests. Used by store.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/gcs/codec.hpp"

namespace dash::storage::gcs {

// A part that is not the last has a multiple of this.
inline constexpr std::size_t kQuantum = 256u << 10;

struct SessionState {
  std::uint64_t received = 0;          // bytes, from the start
  std::optional<StoredObject> object;  // once the last byte is kept
};

// The session's target. `object_json`: object_body() of what is to come into being.
Result<std::string> begin_session(Client& client, const std::string& what, std::string_view query,
                                  std::string_view object_json);
// Sends bytes until all of them are kept. `total`: the object's size, with its last bytes only.
// Code::conflict when bytes before `offset` are missing, Code::not_found when the session is gone.
Result<SessionState> send_bytes(Client& client, const std::string& what, const std::string& session,
                                std::uint64_t offset, std::string_view bytes,
                                std::optional<std::uint64_t> total);
Result<SessionState> query_state(Client& client, const std::string& what, const std::string& session);
// False when there was none to cancel.
Result<bool> cancel_session(Client& client, const std::string& what, const std::string& session);

}  // namespace dash::storage::gcs
