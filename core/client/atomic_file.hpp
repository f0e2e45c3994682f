// A file that appears whole or not at all. It has no name until it is complete, so a killed process leaves
// nothing behind. On a file system without such files it has a name ending in .part.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/direct_write.hpp"
#include "core/base/stream.hpp"

namespace dash::client {

class AtomicFile final : public RandomWriter {
 public:
  // Creates the file for `path`, whose folder must exist.
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile() override;
  // Takes the space for `size` bytes, when it is known before they are written.
  Result<void> reserve(std::uint64_t size);
  // Thread-safe.
  Result<void> write(std::uint64_t offset, std::string_view bytes) override;
  // Gives the file its name: durable, and in one step when it replaces an existing file.
  Result<void> commit_file();

 private:
  AtomicFile() = default;
  Failure os_error() const;
  std::string target_;
  std::string name_;  // while it has a temporary one
  int fd_ = -1;
  std::optional<DirectWriter> writer_;
};

}  // namespace dash::client
