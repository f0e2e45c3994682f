// Reads a range of an asset in order, a buffer at a time, for a download. A fast client is served from 8 MiB
// reads into a buffer of the BufferPool. A client that takes long to drain it is served from small reads of
// the store instead, so that slow downloads hold no memory. Not thread-safe; one reader a download.
#pragma once
#include <span>

#include "core/base/buffer_pool.hpp"
#include "core/base/clock.hpp"
#include "core/base/stream.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::storage {

// The first bytes of an asset, read together with its metadata.
struct Prefetched {
  Buffer buffer;
  std::size_t size = 0;
};

class AssetReader final : public Source {
 public:
  // Reads bytes `first` to `end` (exclusive) of the asset that find() found. The content must have its etag:
  // Code::precondition when it was replaced meanwhile. The buffers count for `holder`. `front` is used when
  // the range begins where it does.
  AssetReader(FindResult found, std::uint64_t first, std::uint64_t end, BufferPool& buffers,
              const Clock& clock, Prefetched front = {}, Holder holder = {});
  // Reads the first bytes, while the response can still become an error.
  Result<void> prefetch();
  Result<std::size_t> read(std::span<char> into) override;
  // Returns the buffer, because the client does not drain it. The rest is read again from the store.
  void release();
  const FindResult& found() const { return found_; }

 private:
  Result<void> refill();
  Result<std::size_t> read_store(std::span<char> into);
  void measure_speed();
  FindResult found_;
  std::uint64_t next_;  // of the object, first byte that is not in the buffer
  std::uint64_t end_;
  BufferPool& buffers_;
  const Clock& clock_;
  Holder holder_;
  Buffer buffer_;
  std::unique_ptr<char[]> small_;
  std::span<const char> ready_;  // in buffer_ or small_
  SteadyTime filled_at_{};
  std::size_t filled_ = 0;             // bytes of the latest read from the store
  std::uint64_t unbuffered_left_ = 0;  // bytes to read without a buffer, because the client was slow
};

}  // namespace dash::storage
