// Walks the whole log once, in constant memory, and checks that it is what was written. GET /api/audit/verify
// and `dashctl audit verify` use it on an instance, and the command also on an exported file alone.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/checkpoint.hpp"
#include "core/audit/entry.hpp"
#include "core/audit/log.hpp"

namespace dash::audit {

// An anchor's text, with the anchor's name for messages.
struct AnchorText {
  std::string name;
  std::string text;
  std::string fault{};  // why it could not be read; empty when it could
};

// What one anchor showed.
struct AnchorStatus {
  std::string name;
  std::int64_t size = 0;  // of its newest checkpoint
  std::string fault;
};

struct VerifyResult {
  bool ok = true;
  std::int64_t count = 0;                        // entries in the log
  std::optional<std::int64_t> first_broken_seq;  // the first that is not, or is no longer, what was written
  std::vector<std::string> problems;             // sentences, worst first
  std::string entry_hash;                        // of the last good entry, raw
  std::string root;                              // of the tree over the good entries, raw
  std::int64_t checkpoint_size = 0;              // size of the newest checkpoint that the log agrees with
  bool has_checkpoint = false;                   // at least one checkpoint was found
  std::int64_t beyond_checkpoint = 0;            // entries after that checkpoint: only their seals prove them
  std::string public_key;                        // signs the checkpoints, raw: to compare with a copy
  std::vector<AnchorStatus> anchors;             // an anchor that could not be read does not change `ok`
};

// {ok, count, first_broken_seq, head: {count, entry_hash, root}, checkpoint: {size, beyond}|null,
//  problems, public_key, anchors: [{name, size, error: s|null}]}
OrderedJson to_json(const VerifyResult& result);

// Calls the callback with each entry, in ascending order; nullopt is an unreadable row.
using EntryReader =
    std::function<Result<void>(const std::function<Result<void>(const std::optional<LogEntry>&)>&)>;

// Verifies against the instance's own keys, the head row and the anchors.
Result<VerifyResult> verify(Log& log, const std::vector<AnchorText>& anchors);
Result<VerifyResult> verify(db::Transaction& tx, const LogKeys& keys, const std::vector<AnchorText>& anchors);
// Verifies against an anchor and the public key alone (32 raw bytes). Seals and head need the instance's keys
// and are not checked.
Result<VerifyResult> verify_entries(const EntryReader& entries, const std::vector<AnchorText>& anchors,
                                    const std::string& public_key);

}  // namespace dash::audit
