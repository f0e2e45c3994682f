// Proofs for outsiders: that an entry is in the log of a checkpoint, and that the log of one checkpoint is a
// prefix of another's (RFC 6962). A proof takes one walk over the log and constant memory.
#pragma once
#include "core/audit/checkpoint.hpp"
#include "core/audit/entry.hpp"
#include "core/audit/log.hpp"

namespace dash::audit {

struct InclusionProof {
  LogEntry entry;
  std::string prev_hash;          // raw
  std::vector<std::string> path;  // raw hashes, leaf to root
  Checkpoint checkpoint;          // of the whole log, signed now
};
struct ConsistencyProof {
  std::int64_t old_size = 0;
  std::string old_root;
  std::vector<std::string> path;
  Checkpoint checkpoint;
};

// {kind: "inclusion", seq, size, entry, prev_hash, leaf_hash, path: [base64], checkpoint, public_key}
OrderedJson to_json(const InclusionProof& proof, const std::string& public_key);
// {kind: "consistency", old_size, size, old_root, path, checkpoint, public_key}
OrderedJson to_json(const ConsistencyProof& proof, const std::string& public_key);

// Fail with Code::not_found for an entry or a size that the log does not have.
Result<InclusionProof> prove_inclusion(Log& log, std::int64_t seq);
Result<ConsistencyProof> prove_consistency(Log& log, std::int64_t old_size);

}  // namespace dash::audit
