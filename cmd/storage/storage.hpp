// What the storage commands share: the progress and the result of moving many files.
#pragma once
#include <atomic>
#include <functional>
#include <optional>

#include "cmd/cli/instance.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/progress.hpp"

namespace dash::cmd {

// Files, or assets, that are transferred at the same time.
inline constexpr std::size_t kParallelFiles = 8;
// Their 8 MiB buffers.
inline constexpr std::size_t kMaxBuffers = 8;

inline bool is_pattern(std::string_view word) { return word.find_first_of("*?[") != word.npos; }

// Counts the bytes of all files together and reports them.
class TransferProgress {
 public:
  TransferProgress(Progress& progress, std::string what) : progress_(progress), what_(std::move(what)) {}
  void add_total(std::uint64_t bytes) { total_ += bytes; }
  void add_done(std::uint64_t bytes) { progress_.update(what_, done_ += bytes, total_, Unit::bytes); }

 private:
  Progress& progress_;
  std::string what_;
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
};

// How many items succeeded, and the first error.
struct BatchResult {
  std::size_t done = 0;
  std::size_t failed = 0;
  std::optional<Error> first_error;

  void add_failure(const Error& error) {
    ++failed;
    if (!first_error) first_error = error;
  }
  // `what`: "files were not uploaded".
  Result<void> to_result(std::string_view what) const {
    if (!first_error) return {};
    if (done > 0) return fail(Code::partial, "{} of {} {}", failed, done + failed, what);
    return Failure(*first_error);
  }
};

// Calls `take` for each page of the backend's assets, in their order. Blank: the active backend.
Result<void> for_each_page(client::StorageClient& storage, const std::string& backend,
                           const std::function<void(const Json& page)>& take);

Run declare_storage_upload(Flags& flags);
Run declare_storage_fetch(Flags& flags);
Run declare_storage_hub(Flags& flags);
Run declare_storage_migrate(Flags& flags);
Run declare_storage_verify(Flags& flags);
Run declare_storage_state(Flags& flags);
Run declare_storage_switch(Flags& flags);
Run declare_storage_sweep(Flags& flags);

}  // namespace dash::cmd
