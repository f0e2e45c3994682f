// Takes an asset into a local file as one step: written without a name beside it, checked against the asset's
// digest, then put in its place. Parts come side by side.
#pragma once
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/client/send.hpp"
#include "core/client/storage_client.hpp"

namespace dash::client {

struct ReceiveResult {
  std::uint64_t size = 0;
  std::string digest;        // of the bytes that came
  bool is_verified = false;  // the instance knew the digest, and it is this one
};

struct ReceiveDeps {
  StorageClient& client;
  BufferPool& buffers;  // bounds the memory of all assets that are taken at the same time
  BytesMoved moved;
  BytesMoved found;     // called with the size of each asset before its bytes come
  std::string backend;  // blank: the active one
};
// Code::integrity when what came is not the asset: what was at `path` before stays. Thread-safe for different
// paths.
Result<ReceiveResult> receive_file(const std::string& name, const std::string& path, const ReceiveDeps& deps);
// The same in order, as it comes.
Result<ReceiveResult> receive_stream(const std::string& name, Sink& out, const ReceiveDeps& deps);

}  // namespace dash::client
