// A local file to upload. The file that was opened is what must be sent.
#pragma once
#include <span>
#include <string>

#include "core/client/journal.hpp"

namespace dash::client {

class OpenFile {
 public:
  // Code::not_found, or Code::invalid for what is no regular file.
  static Result<OpenFile> open(const std::string& path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  const FileIdentity& identity() const { return identity_; }
  // Reads all of `into`, from `offset` on. Code::drift when the file has become shorter.
  Result<void> fill(std::uint64_t offset, std::span<char> into) const;
  // Code::drift when the file has another size or was written since.
  Result<void> check_unchanged() const;
  Failure changed_error() const;

 private:
  OpenFile() = default;
  Result<FileIdentity> stat_file() const;
  std::string path_;
  int fd_ = -1;
  FileIdentity identity_;
};

}  // namespace dash::client
