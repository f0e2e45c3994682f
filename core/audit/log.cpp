#include "core/audit/log.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/audit/entry.hpp"
#include "core/base/log.hpp"
#include "core/base/metrics.hpp"
#include "core/crypto/hash.hpp"
#include "core/db/exec_many.hpp"

namespace dash::audit {
namespace {

std::string head_mac(const LogKeys& keys, std::int64_t count, std::string_view entry_hash,
                     std::string_view frontier, std::int64_t tainted_at) {
  return crypto::to_hex(crypto::hmac_sha256(
      keys.head.expose(),
      fmt::format("audit head v1\n{}\n{}\n{}\n{}\n", count, entry_hash, frontier, tainted_at)));
}

// "<leaves>:<hex of the subtree roots>"; empty text is the empty tree.
std::optional<Frontier> parse_frontier(std::string_view text) {
  auto colon = text.find(':');
  if (text.empty()) return Frontier();
  std::int64_t size = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + std::min(colon, text.size()), size);
  if (colon == text.npos || error != std::errc() || end != text.data() + colon) return std::nullopt;
  auto roots = crypto::from_hex(text.substr(colon + 1));
  return roots ? Frontier::parse(size, *roots) : std::nullopt;
}

constexpr std::string_view kWriteHead =
    R"(INSERT INTO audit_head (one, count, entry_hash, frontier, tainted_at, mac)
       VALUES (1, $1, $2, $3, $4, $5)
       ON CONFLICT (one) DO UPDATE
       SET count = $1, entry_hash = $2, frontier = $3, tainted_at = $4, mac = $5)";

db::Params row_of(const Head& head, const LogKeys& keys) {
  auto hash = crypto::to_hex(head.entry_hash);
  auto frontier = fmt::format("{}:{}", head.frontier.size(), crypto::to_hex(head.frontier.bytes()));
  auto mac = head_mac(keys, head.count, hash, frontier, head.tainted_at);
  return {head.count, std::move(hash), std::move(frontier), head.tainted_at, std::move(mac)};
}

// Computes the head from the entries, for a log whose head row is wrong.
Result<Head> rebuild_head(db::Transaction& tx) {
  Head head;
  TRY(tx.each("SELECT seq, entry_hash FROM audit_log ORDER BY seq", {},
              [&](const db::Row& row) -> Result<void> {
                head.count = row.integer(0);
                head.entry_hash = row.blob(1);
                head.frontier.add(head.entry_hash);
                return {};
              }));
  if (head.count == std::numeric_limits<std::int64_t>::max())
    return fail(Code::integrity,
                "the audit log has an entry with an impossible number; restore the database");
  head.tainted_at = head.count + 1;
  return head;
}

// Reads the columns count, entry_hash, frontier, tainted_at, mac.
Head head_from_row(const db::Row& row, const LogKeys& keys) {
  Head head;
  head.count = row.integer(0);
  head.tainted_at = row.integer(3);
  auto hash = crypto::from_hex(row.text(1));
  auto frontier = parse_frontier(row.text(2));
  if (!hash || !frontier) return head;
  head.entry_hash = *hash;
  head.frontier = *std::move(frontier);
  bool is_initial = head.count == 0 && head.tainted_at == 0 && row.text(1).empty() && row.text(4).empty();
  head.sealed =
      is_initial || crypto::equal_constant_time(
                        row.text(4), head_mac(keys, head.count, row.text(1), row.text(2), head.tainted_at));
  return head;
}

// Returns the head to append to. One that does not match the log is replaced and marked for ever, with an
// error in the log. A refusal instead would let an attacker who damages the log also stop the sign-ins that
// it records.
Result<Head> head_for_append(db::Transaction& tx, const LogKeys& keys) {
  auto rows =
      TRY(tx.query(R"(SELECT h.count, h.entry_hash, h.frontier, h.tainted_at, h.mac, last.seq, last.entry_hash
                      FROM audit_head h
                      LEFT JOIN audit_log last ON last.seq = (SELECT MAX(seq) FROM audit_log)
                      WHERE h.one = 1)"));
  if (!rows.empty()) {
    const auto& row = rows[0];
    auto head = head_from_row(row, keys);
    bool is_last = row.is_null(5) ? head.count == 0 && head.entry_hash.empty()
                                  : head.count == row.integer(5) && head.entry_hash == row.blob(6);
    if (head.sealed && is_last) return head;
  }
  auto rebuilt = TRY(rebuild_head(tx));
  log::error("audit.log_tainted",
             {{"seq", rebuilt.tainted_at},
              {"advice",
               "the log's head does not match its entries or this signing key; run `dashctl audit verify`"}});
  return rebuilt;
}

constexpr std::string_view kInsertEntry =
    R"(INSERT INTO audit_log
         (seq, at, username, action, target, details, ip_address, request_id, seal, entry_hash)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10))";

// Makes the entry that follows `head`, and moves `head` to it.
LogEntry chain(Head& head, const Event& event, std::int64_t at, const LogKeys& keys) {
  LogEntry entry{head.count + 1,
                 at,
                 event.username,
                 event.action,
                 event.target,
                 // Sorted members, so that an exported entry can be written again byte for byte.
                 dump_json(Json(event.details.is_null() ? OrderedJson::object() : event.details)),
                 event.address,
                 event.request_id,
                 {},
                 {}};
  std::string body;
  encode_body(head.count == 0 ? genesis_hash() : head.entry_hash, entry, body);
  entry.seal = seal_of(keys.seal, body);
  entry.entry_hash = hash_of(body, entry.seal);
  head.count = entry.seq;
  head.entry_hash = entry.entry_hash;
  head.frontier.add(entry.entry_hash);
  return entry;
}

db::Params row_of(LogEntry entry) {
  return {entry.seq,
          entry.at,
          std::move(entry.username),
          std::move(entry.action),
          entry.target ? db::Value(*std::move(entry.target)) : db::Value(nullptr),
          std::move(entry.details),
          std::move(entry.address),
          std::move(entry.request_id),
          db::Blob{std::move(entry.seal)},
          db::Blob{std::move(entry.entry_hash)}};
}

}  // namespace

Event make_event(const Principal& principal, std::string action, std::optional<std::string> target,
                 OrderedJson details) {
  return {principal.username, std::move(action), std::move(target),
          std::move(details), principal.address, principal.request_id};
}

LogKeys derive_log_keys(const Secret& key) {
  auto derive = [&](std::string_view info) {
    return Secret(crypto::hkdf_sha256(key.expose(), "", info, 32));
  };
  return {derive("dashctl audit entry seal"), derive("dashctl audit head seal"),
          crypto::ed25519_from_seed(derive("dashctl audit checkpoint ed25519"))};
}

Result<std::optional<Head>> read_head(db::Transaction& tx, const LogKeys& keys) {
  auto rows =
      TRY(tx.query("SELECT count, entry_hash, frontier, tainted_at, mac FROM audit_head WHERE one = 1"));
  return rows.empty() ? std::nullopt : std::optional(head_from_row(rows[0], keys));
}

Log::Log(db::Sql& sql, const Clock& clock, const Secret& key)
    : sql_(sql), clock_(clock), keys_(derive_log_keys(key)) {}
Log::~Log() = default;

Result<std::int64_t> Log::append(db::Transaction& tx, const Event& event) {
  Pending pending{&event};
  TRY(append_all(tx, {&pending}));
  return pending.seq;
}

Result<std::int64_t> Log::append(const Event& event) {
  metrics::Timer timer(metrics::kAuditAppendSeconds);
  Pending pending{&event};
  batches_.run(pending);
  return pending.seq;
}

Result<void> Log::append_all(db::Transaction& tx, const Batch& batch) {
  auto head = TRY(head_for_append(tx, keys_));
  std::vector<db::Statement> statements;
  for (auto* pending : batch) {
    auto entry = chain(head, *pending->event, to_micros(clock_.now()), keys_);
    pending->seq = entry.seq;
    statements.push_back({kInsertEntry, row_of(std::move(entry))});
  }
  statements.push_back({kWriteHead, row_of(head, keys_)});
  TRY(db::exec_many(tx, statements));
  metrics::add(metrics::kAuditEntries, {}, static_cast<double>(batch.size()));
  return {};
}

// An event that the database refuses, for a text that it cannot keep, must not take the others with it.
void Log::append_batch(const Take& take) {
  Batch batch;
  auto done = sql_.write([&](db::Transaction& tx) {
    batch = take();  // only now, so that what came while this waited for its turn shares the head as well
    return append_all(tx, batch);
  });
  if (done) return;
  if (batch.empty()) batch = take();
  for (auto* pending : batch) {
    pending->seq = Failure(done.error());
    if (batch.size() == 1 || done.error().code == Code::busy) continue;
    pending->seq =
        db::write<std::int64_t>(sql_, [&](db::Transaction& tx) { return append(tx, *pending->event); });
  }
}

}  // namespace dash::audit
