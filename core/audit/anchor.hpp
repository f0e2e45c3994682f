// Where checkpoints go: the instance's own copy beside the database (after every change that it notices) and
// the anchors outside of the data directory (every N entries and at shutdown). An anchor keeps its history.
// A checkpoint that the log contradicts is never replaced, so that a rolled-back log cannot overwrite the
// evidence. No append ever waits for an anchor.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/audit/verify.hpp"

namespace dash::audit {

inline constexpr std::int64_t kCheckpointInterval = 1000;  // entries
inline constexpr std::chrono::seconds kAnchorRetryInterval{60};
inline constexpr std::string_view kLocalAnchorFile = "audit.checkpoint";

// The interface of one anchor. It may be slow and may fail. One thread at a time uses it; name() is free of
// that.
class Anchor {
 public:
  virtual ~Anchor() = default;
  virtual std::string name() const = 0;  // for messages: a path, the address of a store
  // Returns all notes, one after the other, oldest first; the last one is the newest. Empty when there are
  // none.
  virtual Result<std::string> newest() = 0;
  virtual Result<std::string> all() { return newest(); }
  virtual Result<void> add(const Checkpoint& checkpoint) = 0;
  virtual std::int64_t interval() const { return kCheckpointInterval; }
};

// Returns an anchor in a file that holds one note. Each newer note replaces it.
std::unique_ptr<Anchor> local_anchor(std::string path);
// Returns an anchor in a file to which every note is appended.
std::unique_ptr<Anchor> file_anchor(std::string path);

class AnchorSet {
 public:
  AnchorSet(Log& log, std::vector<std::unique_ptr<Anchor>> targets);
  // Writes the last checkpoint everywhere.
  ~AnchorSet();
  AnchorSet(const AnchorSet&) = delete;
  AnchorSet& operator=(const AnchorSet&) = delete;

  // Writes what is due. The server calls it about once a second. An anchor that fails is an error in the log
  // and in check_health(), and is tried again after kAnchorRetryInterval.
  void tick() { write(/*is_last=*/false); }
  void flush() { write(/*is_last=*/true); }

  // Returns the texts of all anchors. One that cannot be read carries the reason.
  std::vector<AnchorText> read();
  // Fails with Code::upstream, naming the anchors that could not be written when they were last due.
  Result<void> check_health() const;

 private:
  struct AnchorState {
    std::unique_ptr<Anchor> target;
    std::int64_t written = -1;  // size of its newest checkpoint; -1 when unknown
    std::optional<Time> retry_at{};
    std::string fault{};
  };
  bool is_due(const AnchorState& anchor, std::int64_t count, bool is_last) const;
  void write(bool is_last);
  Result<void> write_one(AnchorState& anchor, const Checkpoint& checkpoint);
  void record_result(AnchorState& anchor, const Result<void>& done);
  Result<bool> matches_log(const Checkpoint& older);

  Log& log_;
  std::mutex mutex_;  // held while the anchors are written or read
  std::vector<AnchorState> anchors_;
  // of AnchorState::fault, so that check_health() never waits for a slow anchor
  mutable std::mutex faults_mutex_;
};

}  // namespace dash::audit
