// Downloads an asset into a local file in one step: written without a name, checked against the asset's
// digest, then given its name. A file is filled by as many streams as it takes (part_streams.hpp).
#pragma once
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/client/send.hpp"
#include "core/client/storage_client.hpp"

namespace dash::client {

struct ReceiveResult {
  std::uint64_t size = 0;
  std::string digest;        // of the bytes that arrived
  bool is_verified = false;  // the instance had the digest, and the bytes match it
};

struct ReceiveDeps {
  StorageClient& client;
  BufferPool& buffers;  // bounds the memory of all assets that are downloaded at the same time
  BytesMoved moved;
  BytesMoved found;     // called with the size of each asset before its bytes arrive
  std::string backend;  // blank: the active one
};
// Code::integrity when the bytes are not the asset: the old file at `path` stays. Thread-safe for different
// paths.
Result<ReceiveResult> receive_file(const std::string& name, const std::string& path, const ReceiveDeps& deps);
// Writes the asset to `out` in order, as it arrives.
Result<ReceiveResult> receive_stream(const std::string& name, Sink& out, const ReceiveDeps& deps);

}  // namespace dash::client
