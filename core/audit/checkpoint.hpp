// Checkpoints: the size and root of the log's Merkle tree, signed. The text has the form of C2SP
// tlog-checkpoint and signed-note (Ed25519), so that other tools can read it. Pure functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/crypto/keys.hpp"

namespace dash::audit {

struct Checkpoint {
  std::int64_t size = 0;
  std::string root;        // 32 raw bytes
  std::string entry_hash;  // of the last entry that it covers, raw; empty for size 0
  std::string made_at;     // ISO time
  std::string note;        // the whole signed text
};

// Returns the name of the signer: "dashctl-audit-" and 16 hex digits of the public key's SHA-256. It is also
// the log's origin line.
std::string signer_name(std::string_view public_key);
// Returns "<name>+<key id>+<base64 of 0x01 and the key>", the form of golang.org/x/mod/sumdb/note. The flag
// --public-key takes it.
std::string verifier_key(std::string_view public_key);
// Returns the 32 bytes of a verifier key. Fails with Code::invalid when its parts disagree.
Result<std::string> parse_verifier_key(std::string_view text);

Checkpoint sign_checkpoint(const crypto::Ed25519Key& key, std::int64_t size, std::string root,
                           std::string entry_hash, Time now);
// Returns all notes of an anchor's text, one after the other. A note that `public_key` did not sign, or that
// is no checkpoint, fails with Code::integrity and the note's number.
Result<std::vector<Checkpoint>> parse_checkpoints(std::string_view text, std::string_view public_key);

}  // namespace dash::audit
