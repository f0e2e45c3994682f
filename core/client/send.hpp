// Uploads a local file to an instance's active backend: up to the backend's inline ceiling in one request,
// above it in parts. It resumes an interrupted upload and retries when the connection breaks. Parts are sent
// in parallel where the backend supports it. Else they go one after the other: a part is sent while the one
// before it is being stored.
#pragma once
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/client/storage_client.hpp"

namespace dash::client {

// The limits of the instance's active backend.
struct UploadTarget {
  std::string backend;
  bool is_chunked = false;
  std::uint64_t max_inline_bytes = 0;
  std::uint64_t ceiling = 0;
  std::string limit_reason;
};
// Reads StorageClient::backends(). Code::invalid when no backend is active, or `wanted` (either spelling;
// blank: any) is another one.
Result<UploadTarget> active_target(const Json& backends, const std::string& wanted);

struct SendPlan {
  std::string path;  // as given
  std::string name;
  std::uint64_t size = 0;
  std::string lane;  // "inline" or "chunked"
};
// Checks the file and the target alone. Code::invalid for a name that will be refused, Code::too_large.
Result<SendPlan> plan_send(const std::string& path, const UploadTarget& target);

// Called with the number of bytes transferred since the last call, by any thread.
using BytesMoved = std::function<void(std::uint64_t bytes)>;

struct SendDeps {
  StorageClient& client;
  BufferPool& buffers;  // bounds the memory of all files that are sent at the same time
  BytesMoved moved;
  std::string journal_folder;
  std::string user;  // distinguishes two users' uploads of one file; may be blank
};
struct ChunkedSendDeps {
  UploadClient& client;
  BufferPool& buffers;
  BytesMoved moved;
  std::string journal_folder;
  std::string user;
};
// Sends a file in parts whatever its size. Returns the instance's response, as send_file() does.
Result<Json> send_chunked(const SendPlan& plan, const ChunkedSendDeps& deps);
// Returns the instance's response, with "resumed_parts" when some were staged already. Thread-safe for
// different files.
Result<Json> send_file(const SendPlan& plan, const SendDeps& deps);

}  // namespace dash::client
