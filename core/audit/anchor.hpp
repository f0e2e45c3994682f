// Where checkpoints go: the instance's own copy beside the database (after every change that it notices) and
// the files outside of the data directory (every N entries and at shutdown). Appending keeps history; a
// checkpoint that the log contradicts is never replaced, so that going on with a rolled-back log cannot wash
// it clean.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/audit/verify.hpp"

namespace dash::audit {

inline constexpr std::int64_t kCheckpointEvery = 1000;  // entries
inline constexpr std::string_view kOwnAnchor = "audit.checkpoint";

class Anchors {
 public:
  // `own_file` may be empty (no copy beside the database).
  Anchors(Log& log, std::string own_file, std::vector<std::string> outside_files);
  // Writes the last checkpoint everywhere.
  ~Anchors();
  Anchors(const Anchors&) = delete;
  Anchors& operator=(const Anchors&) = delete;

  // Called every second or so by whoever serves: writes what is due. An anchor that cannot be written is an
  // error in the log.
  void tick() { write(kCheckpointEvery); }
  void flush() { write(1); }

  // The texts of all anchors; a missing file is an empty text (an empty log has none).
  Result<std::vector<AnchorText>> read() const;

 private:
  struct Anchor {
    std::string path;
    bool own;
    std::int64_t written = -1;  // size of the newest checkpoint in it, -1 unknown
  };
  void write(std::int64_t every);
  Result<void> write_one(Anchor& anchor, const Checkpoint& checkpoint);
  Result<bool> agrees(const Checkpoint& older);

  Log& log_;
  std::mutex mutex_;
  std::vector<Anchor> anchors_;
};

}  // namespace dash::audit
