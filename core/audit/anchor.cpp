#include "core/audit/anchor.hpp"

#include "core/base/log.hpp"

namespace dash::audit {

AnchorSet::AnchorSet(Log& log, std::vector<std::unique_ptr<Anchor>> targets) : log_(log) {
  for (auto& target : targets) anchors_.push_back({std::move(target)});
}

AnchorSet::~AnchorSet() { flush(); }

std::vector<AnchorText> AnchorSet::read() {
  std::lock_guard lock(mutex_);
  std::vector<AnchorText> out;
  out.reserve(anchors_.size());
  for (const auto& anchor : anchors_) {
    auto text = anchor.target->all();
    out.push_back({anchor.target->name(), text.value_or(""), text ? "" : text.error().message});
  }
  return out;
}

Result<void> AnchorSet::check_health() const {
  std::lock_guard lock(faults_mutex_);
  std::string faults;
  for (const auto& anchor : anchors_)
    if (!anchor.fault.empty())
      faults += fmt::format("{}{}: {}", faults.empty() ? "" : "; ", anchor.target->name(), anchor.fault);
  if (faults.empty()) return {};
  return Failure(
      Error{.code = Code::upstream,
            .message = "a checkpoint of the audit log could not be anchored; the log names the anchor",
            .detail = faults});
}

bool AnchorSet::is_due(const AnchorState& anchor, std::int64_t count, bool is_last) const {
  auto interval = is_last ? 1 : anchor.target->interval();
  if (anchor.written >= 0 && count - anchor.written < interval) return false;
  return is_last || !anchor.retry_at || *anchor.retry_at <= log_.clock().now();
}

void AnchorSet::write(bool is_last) {
  std::lock_guard lock(mutex_);
  auto head = db::read<std::optional<Head>>(log_.sql(),
                                            [&](db::Transaction& tx) { return read_head(tx, log_.keys()); });
  // A log that no longer matches its head is not signed: the older checkpoints are the evidence.
  if (!head || !*head || !(*head)->sealed || (*head)->tainted_at != 0) return;
  std::optional<Checkpoint> checkpoint;
  for (auto& anchor : anchors_) {
    if (!is_due(anchor, (*head)->count, is_last)) continue;
    if (!checkpoint)
      checkpoint = sign_checkpoint(log_.keys().checkpoint, (*head)->count, (*head)->frontier.root(),
                                   (*head)->entry_hash, log_.clock().now());
    record_result(anchor, write_one(anchor, *checkpoint));
  }
}

void AnchorSet::record_result(AnchorState& anchor, const Result<void>& done) {
  anchor.retry_at = done ? std::nullopt : std::optional(log_.clock().now() + kAnchorRetryInterval);
  if (!done)
    log::error("audit.anchor_failed", {{"anchor", anchor.target->name()},
                                       {"error", done.error().message},
                                       {"detail", done.error().detail}});
  std::lock_guard lock(faults_mutex_);
  anchor.fault = done ? "" : done.error().message;
}

Result<void> AnchorSet::write_one(AnchorState& anchor, const Checkpoint& checkpoint) {
  auto older = TRY(parse_checkpoints(TRY(anchor.target->newest()), log_.keys().checkpoint.public_key));
  if (!older.empty()) {
    if (!TRY(matches_log(older.back())))
      return fail(Code::integrity,
                  "the log contradicts its checkpoint over {} entries; run `dashctl audit verify`",
                  older.back().size);
    anchor.written = older.back().size;
    if (older.back().size >= checkpoint.size) return {};
  }
  TRY(anchor.target->add(checkpoint));
  anchor.written = checkpoint.size;
  return {};
}

// The chain's hash at the checkpoint's size pins everything before it.
Result<bool> AnchorSet::matches_log(const Checkpoint& older) {
  if (older.size == 0) return true;
  return db::read<bool>(log_.sql(), [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query("SELECT entry_hash FROM audit_log WHERE seq = $1", {older.size}));
    return !rows.empty() && rows[0].blob(0) == older.entry_hash;
  });
}

}  // namespace dash::audit
