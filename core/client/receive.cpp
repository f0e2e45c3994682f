#include "core/client/receive.hpp"

#include <atomic>

#include "core/client/atomic_file.hpp"
#include "core/client/file_parts.hpp"
#include "core/client/parallel.hpp"
#include "core/client/retry.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_streams.hpp"
#include "core/storage/store/resumed_read.hpp"

namespace dash::client {
namespace {

// Requested with the first response, so that a small asset costs one request.
constexpr std::size_t kPrefetchBytes = 1u << 20;
constexpr std::size_t kReceiveWorkers = 4;  // parts of a stream that are transferred at the same time

std::string_view view(std::span<char> bytes) { return {bytes.data(), bytes.size()}; }

// One asset in parts. The derived class decides where each part goes.
class Receiver {
 public:
  Receiver(const std::string& name, const ReceiveDeps& deps) : name_(name), deps_(deps) {}
  virtual ~Receiver() = default;

 protected:
  // Reads the asset's first bytes into `front`. Returns how many.
  Result<std::size_t> open(std::span<char> front) {
    auto opened =
        TRY(transfer_retry().run([&](int) { return deps_.client.open(deps_.backend, name_, front); }));
    asset_ = std::move(opened.asset);
    deps_.found(asset_->size());
    sha256_.resize(storage::part_count(asset_->size()));
    return opened.prefetched;
  }

  // Takes the remaining numbers, until one fails.
  void run_parts(const std::function<Result<void>(std::uint32_t n)>& take) {
    for (auto n = next_++; n <= sha256_.size() && !is_stopped_; n = next_++) {
      auto taken = take(n);
      if (taken) continue;
      std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::move(taken).error();
      is_stopped_ = true;
    }
  }
  std::size_t worker_count() const { return std::clamp<std::size_t>(sha256_.size() - 1, 1, kReceiveWorkers); }
  std::uint64_t size() const { return asset_->size(); }
  std::size_t length(std::uint32_t n) const { return storage::part_length(asset_->size(), n); }

  Result<void> read(ByteRange range, RandomWriter& out) {
    if (range.size == 0) return {};
    auto read = [this](ByteRange rest, RandomWriter& to) -> Result<std::uint64_t> {
      TRY(asset_->read(rest, to));
      return rest.size;
    };
    TRY(storage::read_resumed(transfer_retry(), range, out, read));
    return {};
  }

  Result<ReceiveResult> verify() {
    if (failed_) return Failure(*std::move(failed_));
    storage::PartDigests digest;
    for (const auto& part : sha256_) digest.add(part);
    ReceiveResult result{asset_->size(), digest.finish(), !asset_->digest().empty()};
    if (result.is_verified && result.digest != asset_->digest())
      return fail(Code::integrity,
                  "'{}' arrived with other content than was stored ({} instead of {}); fetch it again", name_,
                  result.digest, asset_->digest());
    return result;
  }

  void count(std::uint32_t n, std::string sha256) {
    sha256_[n - 1] = std::move(sha256);
    deps_.moved(length(n));
  }

  const std::string& name_;
  const ReceiveDeps& deps_;

 private:
  std::unique_ptr<OpenAsset> asset_;
  std::vector<std::string> sha256_;  // of part 1, 2, …
  std::atomic<std::uint32_t> next_ = 2;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::optional<Error> failed_;
};

// Writes bytes to their places in the file as they arrive: no part is ever held.
class FileReceiver final : public Receiver {
 public:
  FileReceiver(const std::string& name, AtomicFile& file, const ReceiveDeps& deps)
      : Receiver(name, deps), file_(file) {}

  Result<ReceiveResult> run() {
    auto buffer = TRY(deps_.buffers.acquire(kTransferBufferTimeout));
    auto front = buffer.span().first(kPrefetchBytes);
    auto came = view(front.first(TRY(open(front))));
    TRY(file_.reserve(size()));
    auto has_threads = size() > kPartBytes;
    FileParts parts(file_, buffer.span().subspan(kPrefetchBytes), has_threads,
                    [this](std::uint32_t n, std::string sha256) { count(n, std::move(sha256)); });
    TRY(storage::read_parts({.size = size(),
                             .front = came,
                             .read = [this](auto range, auto& out) { return read(range, out); },
                             .make_sink = [&parts] { return parts.make_sink(); }}));
    TRY(parts.finish());
    return verify();
  }

 private:
  AtomicFile& file_;
};

// Writes parts in their order; later parts are held until their turn.
class StreamReceiver final : public Receiver {
 public:
  StreamReceiver(const std::string& name, Sink& out, const ReceiveDeps& deps)
      : Receiver(name, deps), out_(out) {}

  Result<ReceiveResult> run() {
    auto buffer = TRY(deps_.buffers.acquire(kTransferBufferTimeout));
    auto came = TRY(open(buffer.span()));
    TRY(receive_part(1, buffer.span(), came));
    run_workers(worker_count(), [&](std::size_t worker) {
      run_with_buffer(worker == 0 ? std::move(buffer) : deps_.buffers.try_acquire());
    });
    return verify();
  }

 private:
  // A thread takes a number only with a buffer, so the smallest number never waits for one.
  void run_with_buffer(Buffer buffer) {
    if (!buffer) return;  // the other threads do it
    run_parts([&](std::uint32_t n) { return receive_part(n, buffer.span(), 0); });
  }

  // The first `came` bytes of the part are in the buffer.
  Result<void> receive_part(std::uint32_t n, std::span<char> buffer, std::size_t came) {
    auto part = buffer.first(length(n));
    SpanWriter rest(part.subspan(came));
    auto taken = read({storage::part_offset(n) + came, part.size() - came}, rest);
    auto sha256 = taken ? crypto::sha256(view(part)) : std::string();
    if (taken && !sequencer_.wait_for(n - 1)) return {};
    if (taken) taken = out_.write(view(part));
    if (!taken) {
      sequencer_.close();
      return taken;
    }
    sequencer_.advance();
    count(n, std::move(sha256));
    return {};
  }

  Sink& out_;
  Sequencer sequencer_;
};

}  // namespace

Result<ReceiveResult> receive_file(const std::string& name, const std::string& path,
                                   const ReceiveDeps& deps) {
  auto file = TRY(AtomicFile::create(path));
  auto received = TRY(FileReceiver(name, file, deps).run());
  TRY(file.commit_file());
  return received;
}

Result<ReceiveResult> receive_stream(const std::string& name, Sink& out, const ReceiveDeps& deps) {
  return StreamReceiver(name, out, deps).run();
}

}  // namespace dash::client
