// Reads an object of many parts: by one stream, and by more once that one proves slow (stream_pace.hpp).
#pragma once
#include <functional>
#include <memory>

#include "core/base/stream.hpp"
#include "core/storage/store/part_layout.hpp"
#include "core/storage/store/stream_pace.hpp"

namespace dash::storage {

// Takes the parts of one stream, each from its start to its end. A call may wait; its error ends the reading.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual Result<void> begin(std::uint32_t n) = 0;
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual Result<void> finish() = 0;
};

struct PartReading {
  std::uint64_t size = 0;       // of the object
  std::string_view front = {};  // its first bytes, when they are here
  // Writes exactly the bytes of the range, in order. Where it begins again, the bytes are the same. Thread-safe.
  std::function<Result<void>(ByteRange range, RandomWriter& out)> read;
  std::function<std::unique_ptr<PartSink>()> make_sink;  // called by each stream's thread
  std::function<void()> on_error = [] {};                // at the first one; ends the waiting of sinks
  std::size_t max_streams = kMaxStreams;                 // 1: the parts come in their order
  std::function<std::size_t(const StreamPace&)> count = stream_count;
};
// Passes every part to one sink. The first stream is read by this thread. Returns the first error.
Result<void> read_parts(const PartReading& reading);

}  // namespace dash::storage
