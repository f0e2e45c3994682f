// Byte streams: the one vocabulary for data that is passed on piece by piece. Names as in Nix's serialise.hh.
// A stream does not own what its constructor is given by reference. One thread at a time uses a stream,
// unless its type says otherwise.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"

namespace dash {

// Abstract source of binary data.
class Source {
 public:
  virtual ~Source() = default;
  // Fills the front of `into`, which is not empty, and returns the number of bytes; 0 is the end. The source
  // is unusable after an error.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

// Abstract destination of binary data.
class Sink {
 public:
  virtual ~Sink() = default;
  // Takes all of `bytes`; the caller may reuse them afterwards. The sink is unusable after an error.
  virtual Result<void> write(std::string_view bytes) = 0;
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t end() const { return offset + size; }  // exclusive
};

// Abstract destination of binary data that is written at positions. A position may be written again.
class RandomWriter {
 public:
  virtual ~RandomWriter() = default;
  // Writes all of `bytes` at `offset`.
  virtual Result<void> write(std::uint64_t offset, std::string_view bytes) = 0;
  // Returns the memory behind `range`: filling it replaces write() and saves a copy. Empty when there is
  // none.
  virtual std::span<char> memory(ByteRange /*range*/) { return {}; }
};

// Reads until `into` is full or the source ends. Returns the number of bytes.
Result<std::size_t> read_full(Source& source, std::span<char> into);
// Moves the rest of `source` into `sink`, at most 256 KiB at a time. Returns the number of bytes.
Result<std::uint64_t> copy_all(Source& source, Sink& sink);

// Reads a text, which must outlive it.
class StringSource final : public Source {
 public:
  explicit StringSource(std::string_view text) : rest_(text) {}
  Result<std::size_t> read(std::span<char> into) override;

 private:
  std::string_view rest_;
};

// Reads with `function`, under the contract of Source::read().
class FunctionSource final : public Source {
 public:
  using Function = std::function<Result<std::size_t>(std::span<char> into)>;
  explicit FunctionSource(Function function) : function_(std::move(function)) {}
  Result<std::size_t> read(std::span<char> into) override { return function_(into); }

 private:
  Function function_;
};

// Collects bytes in memory, `max_bytes` at most: more are Code::too_large.
class StringSink final : public Sink {
 public:
  explicit StringSink(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  Result<void> write(std::string_view bytes) override;
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::size_t max_bytes_;
  std::string text_;
};

// Passes every piece to `function`, under the contract of Sink::write().
class FunctionSink final : public Sink {
 public:
  using Function = std::function<Result<void>(std::string_view bytes)>;
  explicit FunctionSink(Function function) : function_(std::move(function)) {}
  Result<void> write(std::string_view bytes) override { return function_(bytes); }

 private:
  Function function_;
};

// Writes into memory: bytes beyond its end are Code::too_large, and none of them is written.
class SpanWriter final : public RandomWriter {
 public:
  explicit SpanWriter(std::span<char> memory) : memory_(memory) {}
  Result<void> write(std::uint64_t offset, std::string_view bytes) override;
  // Empty when the range is beyond the end.
  std::span<char> memory(ByteRange range) override;

 private:
  std::span<char> memory_;
};

}  // namespace dash
