// One login to one share through libsmbclient: the operations of a FileTree on it. Called by worker.cpp, in
// the child alone: at most one in a process, one thread.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/smb/library.hpp"
#include "core/storage/store/smb/share.hpp"

namespace dash::storage::smb {

class SmbSession final : public local::FileTree {
 public:
  static Result<std::unique_ptr<SmbSession>> open(Share share);

  std::string place() const override { return base_; }
  Result<local::FileEntry> stat(const std::string& path) override;
  Result<std::vector<local::FileEntry>> list(const std::string& folder) override;
  // Opens a folder, to be read in pieces under a number that the caller has not used before. The library has
  // all of its entries in memory until it is closed.
  Result<void> open_folder(std::uint64_t reading, const std::string& folder);
  // Returns the next entries; none at the end, where the folder is closed.
  Result<std::vector<local::FileEntry>> read_folder(std::uint64_t reading);
  void close_folder(std::uint64_t reading);
  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override;
  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override;
  Result<void> make_folder(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override;
  Result<void> remove(const std::string& file) override;
  Result<void> remove_folder(const std::string& empty_folder) override;

 private:
  SmbSession(Library library, const Share& share);
  std::string url(std::string_view path) const;
  Result<void> make_one(const std::string& url_of_folder);
  Library smb_;
  std::map<std::uint64_t, int> open_folders_;
  std::string base_;    // smb://server/share
  std::string folder_;  // beneath the share
};

}  // namespace dash::storage::smb
