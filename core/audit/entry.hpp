// The one encoding of an entry, for appending, verifying and exporting.
//   body       = prev_hash(32) seq(8) at(8) username action target details ip_address request_id
//   seal       = first 16 bytes of HMAC-SHA256(seal key, body)
//   entry_hash = SHA-256(0x00 body seal)
// Integers are big-endian; a text is its length (4 bytes) and its UTF-8; an absent target is the length
// 0xffffffff. The leading zero makes entry_hash the RFC 6962 leaf hash of (body seal), so one hash serves the
// chain and the tree.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/db/sql.hpp"

namespace dash::audit {

// A row of the log, as stored.
struct LogEntry {
  std::int64_t seq = 0;
  std::int64_t at = 0;  // microseconds
  std::string username;
  std::string action;
  std::optional<std::string> target;
  std::string details;  // JSON text, hashed byte for byte
  std::string address;
  std::string request_id;
  std::string seal;
  std::string entry_hash;
};

inline constexpr std::size_t kSealBytes = 16;

// "SELECT <columns> FROM audit_log", to be continued. entry_from_row() reads the rows.
inline constexpr std::string_view kSelectEntries =
    R"(SELECT seq, at, username, action, target, details, ip_address, request_id, seal, entry_hash
       FROM audit_log )";
// Returns nullopt when a column has a type that append never writes.
std::optional<LogEntry> entry_from_row(const db::Row& row);

// Returns 32 zero bytes, the previous hash of the first entry.
std::string genesis_hash();
// Writes 0x00 body into `out` (replacing its content), so that a walk over the log allocates once.
void encode_body(std::string_view prev_hash, const LogEntry& entry, std::string& out);
std::string seal_of(const Secret& seal_key, std::string_view encoded_body);
// Returns the entry's hash. `encoded_body` has the seal appended afterwards.
std::string hash_of(std::string& encoded_body, std::string_view seal);

// Details that are not canonical JSON are written as a string.
OrderedJson to_json(const LogEntry& entry);

inline constexpr int kExportSchema = 1;
// Returns one line of `audit export`: to_json() with "schema" before it. A reader also takes lines without
// it.
std::string export_line(const LogEntry& entry);
Result<LogEntry> entry_from_json(const Json& line);

}  // namespace dash::audit
