// A file that appears whole or not at all: it has no name until it is put in its place, so a process that is
// killed leaves nothing behind (on a file system that cannot do that it has a name ending in .part).
#pragma once
#include <string>
#include <string_view>

#include "core/base/stream.hpp"

namespace dash::client {

class AtomicFile final : public RandomWriter {
 public:
  // To be at `path`, whose folder exists.
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile() override;
  // Thread-safe.
  Result<void> write(std::uint64_t offset, std::string_view bytes) override;
  // Durable; replaces what is there in one step.
  Result<void> commit_file();

 private:
  AtomicFile() = default;
  Failure os_error() const;
  std::string target_;
  std::string name_;  // while it has one that is not the target
  int fd_ = -1;
};

}  // namespace dash::client
