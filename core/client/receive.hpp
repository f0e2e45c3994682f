// Takes an asset into a local file as one step: written without a name beside it, checked against the asset's
// digest, then put in its place. Parts come side by side.
#pragma once
#include <string>

#include "core/base/part_pool.hpp"
#include "core/client/desk.hpp"
#include "core/client/send.hpp"

namespace dash::client {

using Sink = std::function<Result<void>(std::string_view bytes)>;

struct Received {
  std::uint64_t size = 0;
  std::string digest;        // of the bytes that came
  bool is_verified = false;  // the instance knew the digest, and it is this one
};

struct ReceiveSeams {
  Desk& desk;
  PartPool& parts;  // bounds the memory of all assets that are taken at the same time
  BytesMoved moved;
  BytesMoved found;     // called with the size of each asset before its bytes come
  std::string backend;  // blank: the active one
};
// Code::integrity when what came is not the asset: what was at `path` before stays. Thread-safe for different
// paths.
Result<Received> receive_file(const std::string& name, const std::string& path, const ReceiveSeams& seams);
// The same in order, as it comes.
Result<Received> receive_stream(const std::string& name, const Sink& out, const ReceiveSeams& seams);

}  // namespace dash::client
