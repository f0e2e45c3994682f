// Walks the whole log once, in constant memory, and says whether it is what was written. Used by GET
// /api/audit/verify, by `dashctl audit verify` on an instance, and without any instance on an exported file.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/checkpoint.hpp"
#include "core/audit/entry.hpp"
#include "core/audit/log.hpp"

namespace dash::audit {

// An anchor's text, with the name that messages give it.
struct AnchorText {
  std::string name;
  std::string text;
  std::string fault{};  // why it could not be read; empty when it was
};

// What an anchor had to say.
struct AnchorStatus {
  std::string name;
  std::int64_t size = 0;  // of its newest checkpoint
  std::string fault;
};

struct VerifyResult {
  bool ok = true;
  std::int64_t count = 0;                        // entries in the log
  std::optional<std::int64_t> first_broken_seq;  // the first that is not, or no longer, what was written
  std::vector<std::string> problems;             // sentences, worst first
  std::string entry_hash;                        // of the last good entry, raw
  std::string root;                              // of the tree over the good entries, raw
  std::int64_t checkpoint_size = 0;              // newest checkpoint that the log agrees with
  bool has_checkpoint = false;                   // there was one
  std::int64_t beyond_checkpoint = 0;            // entries after it: only the seals vouch for them
  std::string public_key;             // that checkpoints are signed with, raw: to compare with one's own
  std::vector<AnchorStatus> anchors;  // one that could not be read leaves `ok` as it is
};

// {ok, count, first_broken_seq, head: {count, entry_hash, root}, checkpoint: {size, beyond}|null, problems,
// public_key, anchors: [{name, size, error: s|null}]}
OrderedJson to_json(const VerifyResult& result);

// The entries in ascending order, handed to the callback one by one; nullopt stands for an unreadable row.
using EntrySource =
    std::function<Result<void>(const std::function<Result<void>(const std::optional<LogEntry>&)>&)>;

// Against the instance's own keys, head row and the anchors.
Result<VerifyResult> verify(Log& log, const std::vector<AnchorText>& anchors);
Result<VerifyResult> verify(db::Transaction& tx, const LogKeys& keys, const std::vector<AnchorText>& anchors);
// Against an anchor and the public key alone (32 raw bytes); seals and head cannot be checked without the
// instance's keys.
Result<VerifyResult> verify_entries(const EntrySource& entries, const std::vector<AnchorText>& anchors,
                                    const std::string& public_key);

}  // namespace dash::audit
