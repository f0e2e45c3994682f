// A resumable upload (cloud.google.com, "Resumable uploads"): begin, send bytes at an offset, query the
// state, cancel. The service stores whole multiples of 256 KiB of a request, so a part may take several
// requests. Used by store.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/gcs/codec.hpp"

namespace dash::storage::gcs {

// The size of every part but the last is a multiple of this.
inline constexpr std::size_t kQuantum = 256u << 10;

struct SessionState {
  std::uint64_t received = 0;          // bytes, from the start
  std::optional<StoredObject> object;  // after the last byte is stored
};

// Returns the session's target. `object_json` is object_body() of the new object.
Result<std::string> begin_session(Client& client, const std::string& what, std::string_view query,
                                  std::string_view object_json);
// Sends bytes until the service has stored all of them. `total` is the object's size, given with its last
// bytes only. Code::conflict when bytes before `offset` are missing, Code::not_found when the session is
// gone.
Result<SessionState> send_bytes(Client& client, const std::string& what, const std::string& session,
                                std::uint64_t offset, std::string_view bytes,
                                std::optional<std::uint64_t> total);
Result<SessionState> query_state(Client& client, const std::string& what, const std::string& session);
// Returns false when there was none to cancel.
Result<bool> cancel_session(Client& client, const std::string& what, const std::string& session);

}  // namespace dash::storage::gcs
