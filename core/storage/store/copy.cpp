#include "core/storage/store/copy.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/log.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_streams.hpp"

namespace dash::storage {
namespace {

std::string_view view(const Buffer& buffer, std::size_t size) { return {buffer.data(), size}; }

Result<void> check_digest(const CopySource& from, const std::string& digest) {
  if (from.digest.empty() || from.digest == digest) return {};
  return fail(Code::integrity, "'{}' in {} is not what was stored: it has {}, and {} was recorded",
              from.object.key, from.store.place(), digest, from.digest);
}

Result<void> before_piece(const CopyOptions& options, std::uint64_t bytes) {
  if (options.watch) return options.watch->before_piece(bytes);
  return {};
}

void after_piece(const CopyOptions& options, std::uint64_t bytes) {
  if (options.watch) options.watch->after_piece(bytes);
}

Result<CopyResult> copy_whole(const CopySource& from, ObjectStore& to, const std::string& key,
                              const CopyOptions& options, Buffer& buffer) {
  auto size = static_cast<std::size_t>(from.object.size);
  TRY(before_piece(options, size));
  TRY(read_exactly(from.store, from.object, 0, buffer.span().first(size)));
  PartDigests digests;
  digests.add(crypto::sha256(view(buffer, size)));
  auto digest = digests.finish();
  TRY(check_digest(from, digest));
  auto object = TRY(to.put(key, view(buffer, size), PutOptions{digest, options.only_if_absent}));
  after_piece(options, size);
  return CopyResult{std::move(object), std::move(digest)};
}

// The buffers of one copy: its own, and more while the pool has some to spare. Thread-safe.
class CopyBuffers {
 public:
  CopyBuffers(Buffer own, BufferPool& pool) : own_(std::move(own)), pool_(pool) {}
  // Waits for one. Returns an empty Buffer after close().
  Buffer take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (is_closed_) return {};
      if (own_) return std::exchange(own_, {});
      if (extra_ + 1 < kMaxParallelParts && pool_.available() > kSparedBuffers)
        if (auto more = pool_.try_acquire()) {
          ++extra_;
          return more;
        }
      returned_.wait(lock);
    }
  }
  void put_back(Buffer buffer) {
    std::lock_guard lock(mutex_);
    if (own_)
      --extra_;  // the pool gets it
    else
      own_ = std::move(buffer);
    returned_.notify_one();
  }
  void close() {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    returned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  Buffer own_;
  BufferPool& pool_;
  std::size_t extra_ = 0;
  bool is_closed_ = false;
};

// The parts of one upload: streams of the source fill buffers, and several threads store what is full.
class PartsInFlight {
 public:
  PartsInFlight(const CopySource& from, ObjectStore& to, std::string upload, const CopyOptions& options,
                CopyBuffers& buffers)
      : from_(from),
        to_(to),
        upload_(std::move(upload)),
        options_(options),
        buffers_(buffers),
        count_(part_count(from.object.size)),
        hashes_(count_),
        staged_(count_) {}

  Result<void> run() {
    std::vector<std::jthread> storing;
    for (std::size_t i = 0; i < storers(); ++i) storing.emplace_back([this] { store_parts(); });
    auto done = read_parts({.size = from_.object.size,
                            .read = [this](auto range, auto& out) { return read(range, out); },
                            .make_sink = [this] { return std::make_unique<Filler>(*this); },
                            .on_error = [this] { buffers_.close(); },
                            .max_streams = to_.capabilities().is_parallel ? kMaxStreams : 1});
    end();
    storing.clear();
    if (error_) return Failure(*std::move(error_));
    return done;
  }
  // For the end, when no thread is at work.
  std::string digest() const {
    PartDigests digests;
    for (const auto& hash : hashes_) digests.add(hash);
    return digests.finish();
  }
  const std::vector<StagedPart>& staged() const { return staged_; }

 private:
  struct FullPart {
    std::uint32_t n;
    Buffer buffer;
  };

  // Fills a buffer with each part of a stream.
  class Filler final : public PartSink {
   public:
    explicit Filler(PartsInFlight& all) : all_(all) {}
    Result<void> begin(std::uint32_t n) override {
      n_ = n;
      filled_ = 0;
      buffer_ = all_.buffers_.take();
      if (!buffer_) return fail(Code::interrupted, "the copy has ended");
      return before_piece(all_.options_, all_.length(n));
    }
    Result<void> write(std::string_view bytes) override {
      bytes.copy(buffer_.data() + filled_, bytes.size());
      filled_ += bytes.size();
      return {};
    }
    Result<void> finish() override {
      all_.pass_on({n_, std::move(buffer_)});
      return {};
    }

   private:
    PartsInFlight& all_;
    std::uint32_t n_ = 0;
    Buffer buffer_;
    std::size_t filled_ = 0;
  };

  // One thread of four reads.
  std::size_t storers() const {
    return to_.capabilities().is_parallel ? std::min<std::size_t>(count_, kMaxParallelParts - 1) : 1;
  }
  std::size_t length(std::uint32_t n) const { return part_length(from_.object.size, n); }

  Result<void> read(ByteRange range, RandomWriter& out) {
    auto size = TRY(from_.store.read(from_.object.key, range, from_.object.etag, out));
    if (size == range.size) return {};
    return fail(Code::integrity, "'{}' ended early in {}", from_.object.key, from_.store.place());
  }
  void pass_on(FullPart part) {
    std::lock_guard lock(mutex_);
    full_.push_back(std::move(part));
    changed_.notify_one();
  }
  void end() {
    std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  void store_parts() {
    while (auto part = next_full()) {
      auto stored = store_part(part->n, part->buffer);
      buffers_.put_back(std::move(part->buffer));
      if (stored) continue;
      buffers_.close();
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::move(stored).error();
    }
  }
  // After an error the rest is dropped.
  std::optional<FullPart> next_full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_ended_ || error_ || !full_.empty(); });
    if (error_ || full_.empty()) return std::nullopt;
    auto part = std::move(full_.front());
    full_.pop_front();
    return part;
  }
  Result<void> store_part(std::uint32_t n, const Buffer& buffer) {
    auto bytes = view(buffer, length(n));
    auto hash = crypto::sha256(bytes);
    auto tag = TRY(to_.put_part(upload_, n, Payload(bytes, hash), n == count_));
    staged_[n - 1] = {n, bytes.size(), std::move(tag)};
    hashes_[n - 1] = std::move(hash);
    after_piece(options_, bytes.size());
    return {};
  }

  const CopySource& from_;
  ObjectStore& to_;
  const std::string upload_;
  const CopyOptions& options_;
  CopyBuffers& buffers_;
  const std::uint32_t count_;
  std::vector<std::string> hashes_;  // of part n at n - 1, as staged_; a thread writes only its own
  std::vector<StagedPart> staged_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<FullPart> full_;
  bool has_ended_ = false;
  std::optional<Error> error_;
};

Result<CopyResult> copy_parts(const CopySource& from, ObjectStore& to, const std::string& upload,
                              const CopyOptions& options, CopyBuffers& buffers) {
  PartsInFlight parts(from, to, upload, options, buffers);
  TRY(parts.run());
  auto digest = parts.digest();
  TRY(check_digest(from, digest));
  TRY(before_piece(options, 0));
  return CopyResult{TRY(to.commit(upload, parts.staged(), PutOptions{digest, options.only_if_absent})),
                    digest};
}

Result<CopyResult> copy_chunked(const CopySource& from, ObjectStore& to, const std::string& key,
                                const CopyOptions& options, CopyBuffers& buffers) {
  auto max_bytes = to.capabilities().max_bytes;
  if (max_bytes != 0 && from.object.size > max_bytes)
    return fail(Code::too_large, "'{}' has {} bytes; {} takes at most {}", from.object.key, from.object.size,
                to.place(), max_bytes);
  auto upload = TRY(to.begin_at_once(key, from.object.size));
  auto copied = copy_parts(from, to, upload, options, buffers);
  if (!copied)
    if (auto done = to.abort(upload); !done)
      log::warning("storage.abort_failed", {{"place", to.place()}, {"error", done.error().message}});
  return copied;
}

}  // namespace

Result<void> read_exactly(ObjectStore& store, const Object& object, std::uint64_t offset,
                          std::span<char> out) {
  while (!out.empty()) {
    auto n = TRY(store.read(object.key, offset, object.etag, out));
    if (n == 0) return fail(Code::integrity, "'{}' ended early in {}", object.key, store.place());
    offset += n;
    out = out.subspan(n);
  }
  return {};
}

Result<std::string> read_digest(ObjectStore& store, const Object& object, BufferPool& buffers,
                                CopyWatch* watch) {
  auto buffer = TRY(buffers.acquire(kCopyBufferTimeout));
  PartDigests digests;
  for (std::uint32_t n = 1; n <= part_count(object.size); ++n) {
    auto size = part_length(object.size, n);
    if (watch) TRY(watch->before_piece(size));
    TRY(read_exactly(store, object, part_offset(n), buffer.span().first(size)));
    digests.add(crypto::sha256(view(buffer, size)));
  }
  return digests.finish();
}

Result<CopyResult> copy_object(const CopySource& from, ObjectStore& to, const std::string& key,
                               const CopyOptions& options, BufferPool& buffers) {
  auto buffer = TRY(buffers.acquire(kCopyBufferTimeout));
  auto is_whole = from.object.size <= kPartBytes;
  CopyBuffers in_turn(is_whole ? Buffer() : std::move(buffer), buffers);
  auto copied = TRY(is_whole ? copy_whole(from, to, key, options, buffer)
                             : copy_chunked(from, to, key, options, in_turn));
  if (copied.object.size != from.object.size)
    return fail(Code::integrity, "{} stored {} bytes for '{}', which has {}; copy it again", to.place(),
                copied.object.size, key, from.object.size);
  return copied;
}

}  // namespace dash::storage
