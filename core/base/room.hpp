// Where bytes that are asked for go: into memory, or piece by piece to a taker, so that nobody has to hold
// them all. Not thread-safe.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

class Room {
 public:
  // Pieces come in order; `at` counts from the first byte that was asked for. A piece at 0 begins anew:
  // whoever brings them may have failed before.
  using Take = std::function<Result<void>(std::uint64_t at, std::string_view bytes)>;

  Room() = default;
  Room(std::span<char> memory) : memory_(memory), size_(memory.size()) {}
  Room(std::string& memory) : Room(std::span<char>(memory)) {}
  Room(std::uint64_t size, Take take) : size_(size), take_(std::move(take)) {}

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Precondition: the bytes fit.
  Result<void> put(std::uint64_t at, std::string_view bytes) const {
    if (take_) return take_(at, bytes);
    bytes.copy(memory_.data() + at, bytes.size());
    return {};
  }

  // For who reads into memory: `read(at, into)` fills the front of the span, and all of it unless there are
  // no more bytes. How many there were.
  Result<std::uint64_t> fill(
      const std::function<Result<std::size_t>(std::uint64_t at, std::span<char> into)>& read) const {
    if (!take_) return TRY(read(0, memory_));
    auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
    for (std::uint64_t at = 0;;) {
      std::span into(piece.get(), static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size_ - at)));
      auto n = into.empty() ? 0u : TRY(read(at, into));
      if (n > 0) TRY(take_(at, {into.data(), n}));
      at += n;
      if (n < into.size() || at == size_) return at;
    }
  }

 private:
  static constexpr std::size_t kPiece = 256u << 10;
  std::span<char> memory_;
  std::uint64_t size_ = 0;
  Take take_;
};

}  // namespace dash
