#include "core/client/file_parts.hpp"

#include <cstring>

namespace dash::client {

PieceRoom::PieceRoom(std::span<char> memory) {
  for (std::size_t at = 0; at + kPieceBytes <= memory.size(); at += kPieceBytes)
    free_.push_back(memory.data() + at);
}

std::shared_ptr<char> PieceRoom::take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  auto* piece = free_.back();
  free_.pop_back();
  return {piece, [this](char* returned) {
            std::lock_guard give(mutex_);
            free_.push_back(returned);
            returned_.notify_one();
          }};
}

// The parts of one stream.
class FileParts::Sink final : public storage::PartSink {
 public:
  explicit Sink(FileParts& all) : all_(all) {}

  Result<void> begin(std::uint32_t n) override {
    n_ = n;
    offset_ = storage::part_offset(n);
    hash_ = std::make_shared<crypto::Sha256>();
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (!piece_) piece_ = all_.room_.take();
      auto now = bytes.substr(0, PieceRoom::kPieceBytes - filled_);
      std::memcpy(piece_.get() + filled_, now.data(), now.size());
      filled_ += now.size();
      bytes.remove_prefix(now.size());
      if (filled_ == PieceRoom::kPieceBytes) TRY(pass_on());
    }
    return {};
  }
  Result<void> finish() override {
    if (filled_ > 0) TRY(pass_on());
    return all_.hashes_.post([&all = all_, n = n_, hash = std::move(hash_)]() -> Result<void> {
      all.on_part_(n, hash->finish());
      return {};
    });
  }

 private:
  // The piece is hashed and written.
  Result<void> pass_on() {
    auto piece = std::exchange(piece_, nullptr);
    auto size = std::exchange(filled_, 0);
    auto offset = offset_;
    offset_ += size;
    TRY(all_.hashes_.post([piece, size, hash = hash_]() -> Result<void> {
      hash->update({piece.get(), size});
      return {};
    }));
    return all_.writes_.post([&file = all_.file_, piece, size, offset] {
      return file.write(offset, {piece.get(), size});
    });
  }

  FileParts& all_;
  std::uint32_t n_ = 0;
  std::uint64_t offset_ = 0;  // in the file, of the piece
  std::shared_ptr<crypto::Sha256> hash_;
  std::shared_ptr<char> piece_;
  std::size_t filled_ = 0;  // of the piece
};

std::unique_ptr<storage::PartSink> FileParts::make_sink() { return std::make_unique<Sink>(*this); }

Result<void> FileParts::finish() {
  auto hashed = hashes_.finish();
  auto written = writes_.finish();
  TRY(std::move(hashed));
  return written;
}

}  // namespace dash::client
