#include "core/audit/anchor.hpp"

#include "core/base/log.hpp"

namespace dash::audit {

Anchors::Anchors(Log& log, std::vector<std::unique_ptr<AnchorPlace>> places) : log_(log) {
  for (auto& place : places) anchors_.push_back({std::move(place)});
}

Anchors::~Anchors() { flush(); }

std::vector<AnchorText> Anchors::read() {
  std::lock_guard lock(mutex_);
  std::vector<AnchorText> out;
  out.reserve(anchors_.size());
  for (const auto& anchor : anchors_) {
    auto text = anchor.place->all();
    out.push_back({anchor.place->name(), text.value_or(""), text ? "" : text.error().message});
  }
  return out;
}

Result<void> Anchors::healthy() const {
  std::lock_guard lock(faults_mutex_);
  std::string faults;
  for (const auto& anchor : anchors_)
    if (!anchor.fault.empty())
      faults += fmt::format("{}{}: {}", faults.empty() ? "" : "; ", anchor.place->name(), anchor.fault);
  if (faults.empty()) return {};
  return Failure(Error{Code::upstream,
                       "a checkpoint of the audit log could not be anchored; the log names the anchor",
                       faults,
                       {},
                       {}});
}

bool Anchors::is_due(const Anchor& anchor, std::int64_t count, bool is_last) const {
  auto every = is_last ? 1 : anchor.place->every();
  if (anchor.written >= 0 && count - anchor.written < every) return false;
  return is_last || !anchor.retry_at || *anchor.retry_at <= log_.clock().now();
}

void Anchors::write(bool is_last) {
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
    note(anchor, write_one(anchor, *checkpoint));
  }
}

void Anchors::note(Anchor& anchor, const Result<void>& done) {
  anchor.retry_at = done ? std::nullopt : std::optional(log_.clock().now() + kAnchorRetry);
  if (!done)
    log::error(
        "audit_anchor_failed",
        {{"anchor", anchor.place->name()}, {"error", done.error().message}, {"detail", done.error().detail}});
  std::lock_guard lock(faults_mutex_);
  anchor.fault = done ? "" : done.error().message;
}

Result<void> Anchors::write_one(Anchor& anchor, const Checkpoint& checkpoint) {
  auto older = TRY(parse_checkpoints(TRY(anchor.place->newest()), log_.keys().checkpoint.public_key));
  if (!older.empty()) {
    if (!TRY(agrees(older.back())))
      return fail(Code::integrity,
                  "the log contradicts its checkpoint over {} entries; run dashctl audit verify",
                  older.back().size);
    anchor.written = older.back().size;
    if (older.back().size >= checkpoint.size) return {};
  }
  TRY(anchor.place->add(checkpoint));
  anchor.written = checkpoint.size;
  return {};
}

// The chain's hash at the checkpoint's size pins everything before it.
Result<bool> Anchors::agrees(const Checkpoint& older) {
  if (older.size == 0) return true;
  return db::read<bool>(log_.sql(), [&](db::Transaction& tx) -> Result<bool> {
    auto rows = TRY(tx.query("SELECT entry_hash FROM audit_log WHERE seq = $1", {older.size}));
    return !rows.empty() && rows[0].blob(0) == older.entry_hash;
  });
}

}  // namespace dash::audit
