// What a client records about an open chunked upload, so that the same command can resume it in another
// process. It is one file, 0600 because the handle is a write capability, in the XDG state folder, named
// after the instance and the file's identity.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace dash::client {

// The identity of a file: a changed file is uploaded from the start.
struct FileIdentity {
  std::string path;  // absolute
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;
};

struct JournalEntry {
  std::string handle;
  std::vector<std::string> refs;  // of part 1, 2, …
};

class Journal {
 public:
  // `folder` is made 0700 with the first record.
  Journal(const std::string& folder, const std::string& instance, const std::string& user,
          const FileIdentity& file);
  // Returns nullopt when there is no readable record.
  std::optional<JournalEntry> read() const;
  Result<void> write(const JournalEntry& upload) const;
  void remove() const;

 private:
  std::string folder_, path_;
};

// Returns $XDG_STATE_HOME/dashctl/uploads, else ~/.local/state/dashctl/uploads.
std::string journal_folder();

}  // namespace dash::client
