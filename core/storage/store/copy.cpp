#include "core/storage/store/copy.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/log.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"

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

// The parts of one upload. Each of several threads takes the next one until none is left or one has failed.
class PartsInFlight {
 public:
  PartsInFlight(const CopySource& from, ObjectStore& to, std::string upload, const CopyOptions& options)
      : from_(from),
        to_(to),
        upload_(std::move(upload)),
        options_(options),
        count_(part_count(from.object.size)),
        hashes_(count_),
        staged_(count_) {}

  void move_all(Buffer& buffer) {
    while (auto n = take_next()) move_part(*n, buffer);
  }
  // Moves parts while buffers are to spare.
  void help(BufferPool& buffers) {
    while (buffers.available() > kSparedBuffers) {
      auto buffer = buffers.try_acquire();
      auto n = buffer ? take_next() : std::nullopt;
      if (!n) return;
      move_part(*n, buffer);
    }
  }
  std::size_t helpers() const {
    return to_.capabilities().is_parallel ? std::min<std::size_t>(count_, kMaxParallelParts) - 1 : 0;
  }

  // For the end, when no thread is at work.
  Result<void> outcome() const {
    if (error_) return Failure(*error_);
    return {};
  }
  std::string digest() const {
    PartDigests digests;
    for (const auto& hash : hashes_) digests.add(hash);
    return digests.finish();
  }
  const std::vector<StagedPart>& staged() const { return staged_; }

 private:
  std::optional<std::uint32_t> take_next() {
    std::lock_guard lock(mutex_);
    if (error_ || next_ > count_) return std::nullopt;
    return next_++;
  }
  void move_part(std::uint32_t n, Buffer& buffer) {
    auto moved = try_move_part(n, buffer);
    std::lock_guard lock(mutex_);
    if (!moved && !error_) error_ = std::move(moved).error();
  }
  Result<void> try_move_part(std::uint32_t n, Buffer& buffer) {
    auto size = static_cast<std::size_t>(part_length(from_.object.size, n));
    TRY(before_piece(options_, size));
    TRY(read_exactly(from_.store, from_.object, part_offset(n), buffer.span().first(size)));
    auto hash = crypto::sha256(view(buffer, size));
    auto tag = TRY(to_.put_part(upload_, n, Payload(view(buffer, size), hash), n == count_));
    staged_[n - 1] = {n, size, std::move(tag)};
    hashes_[n - 1] = std::move(hash);
    after_piece(options_, size);
    return {};
  }

  const CopySource& from_;
  ObjectStore& to_;
  const std::string upload_;
  const CopyOptions& options_;
  const std::uint32_t count_;
  std::mutex mutex_;
  std::uint32_t next_ = 1;
  std::optional<Error> error_;
  std::vector<std::string> hashes_;  // of part n at n - 1, as staged_; a thread writes only its own
  std::vector<StagedPart> staged_;
};

Result<CopyResult> copy_parts(const CopySource& from, ObjectStore& to, const std::string& upload,
                              const CopyOptions& options, Buffer& buffer, BufferPool& buffers) {
  PartsInFlight parts(from, to, upload, options);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 0; i < parts.helpers(); ++i)
      helpers.emplace_back([&parts, &buffers] { parts.help(buffers); });
    parts.move_all(buffer);
  }
  TRY(parts.outcome());
  auto digest = parts.digest();
  TRY(check_digest(from, digest));
  TRY(before_piece(options, 0));
  return CopyResult{TRY(to.commit(upload, parts.staged(), PutOptions{digest, options.only_if_absent})),
                    digest};
}

Result<CopyResult> copy_chunked(const CopySource& from, ObjectStore& to, const std::string& key,
                                const CopyOptions& options, Buffer& buffer, BufferPool& buffers) {
  auto max_bytes = to.capabilities().max_bytes;
  if (max_bytes != 0 && from.object.size > max_bytes)
    return fail(Code::too_large, "'{}' has {} bytes; {} takes at most {}", from.object.key, from.object.size,
                to.place(), max_bytes);
  auto upload = TRY(to.begin_at_once(key, from.object.size));
  auto copied = copy_parts(from, to, upload, options, buffer, buffers);
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
  auto copied = TRY(from.object.size <= kPartBytes ? copy_whole(from, to, key, options, buffer)
                                                   : copy_chunked(from, to, key, options, buffer, buffers));
  if (copied.object.size != from.object.size)
    return fail(Code::integrity, "{} stored {} bytes for '{}', which has {}; copy it again", to.place(),
                copied.object.size, key, from.object.size);
  return copied;
}

}  // namespace dash::storage
