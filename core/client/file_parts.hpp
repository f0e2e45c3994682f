// Takes an asset's parts as they arrive and writes them to their places in a file: one thread receives, one hashes and
// one writes, a piece of a MiB after the other. The pieces lie in one buffer, so that no asset holds more.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/client/serial_tasks.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/part_streams.hpp"

namespace dash::client {

// Room for pieces. A piece returns to it when the last user drops it. Thread-safe.
class PieceRoom {
 public:
  static constexpr std::size_t kPieceBytes = 1u << 20;
  explicit PieceRoom(std::span<char> memory);
  // Waits until one is free.
  std::shared_ptr<char> take();

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<char*> free_;
};

class FileParts {
 public:
  // Called with the number of each part and its SHA-256, one at a time.
  using OnPart = std::function<void(std::uint32_t n, std::string sha256)>;
  // `memory` is aligned for direct writes and has more pieces than there can be streams.
  FileParts(RandomWriter& file, std::span<char> memory, bool has_threads, OnPart on_part)
      : file_(file),
        room_(memory),
        on_part_(std::move(on_part)),
        hashes_(has_threads),
        writes_(has_threads) {}
  // Returns a sink for one stream. Thread-safe.
  std::unique_ptr<storage::PartSink> make_sink();
  // Waits until everything is hashed and written.
  Result<void> finish();

 private:
  class Sink;
  RandomWriter& file_;
  PieceRoom room_;
  OnPart on_part_;
  SerialTasks hashes_, writes_;
};

}  // namespace dash::client
