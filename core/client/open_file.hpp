// A local file on its way into a store: what it was when it was opened is what must be sent.
#pragma once
#include <span>
#include <string>

#include "core/client/journal.hpp"

namespace dash::client {

class OpenFile {
 public:
  // Code::not_found, Code::invalid for what is no regular file.
  static Result<OpenFile> open(const std::string& path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  const FileIdentity& identity() const { return identity_; }
  // All of `into`, from `offset` on. Code::drift when the file has become shorter.
  Result<void> fill(std::uint64_t offset, std::span<char> into) const;
  // Code::drift when it is another size or was written since.
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
