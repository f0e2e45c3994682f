#include "core/audit/anchor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/base/file.hpp"
#include "core/base/log.hpp"

namespace dash::audit {
namespace {

constexpr std::size_t kMaxAnchorBytes = 256u << 20;  // a million checkpoints

Failure cannot(std::string_view what, const std::string& path) {
  return fail(Code::internal, "cannot {} the audit anchor {}: {}", what, path, strerror(errno));
}

Result<void> append_file(const std::string& path, std::string_view text) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
  if (fd < 0) return cannot("open", path);
  auto written = ::write(fd, text.data(), text.size());
  bool good = written == static_cast<ssize_t>(text.size()) && ::fdatasync(fd) == 0;
  auto result = good ? Result<void>() : Result<void>(cannot("write", path));
  ::close(fd);
  return result;
}

Result<std::string> read_anchor(const std::string& path) {
  auto text = dash::read_file(path, kMaxAnchorBytes);
  if (!text && text.error().code == Code::not_found) return std::string();
  return text;
}

}  // namespace

Anchors::Anchors(Log& log, std::string own_file, std::vector<std::string> outside_files) : log_(log) {
  if (!own_file.empty()) anchors_.push_back({std::move(own_file), true});
  for (auto& path : outside_files) anchors_.push_back({std::move(path), false});
}

Anchors::~Anchors() { flush(); }

Result<std::vector<AnchorText>> Anchors::read() const {
  std::vector<AnchorText> out;
  for (const auto& anchor : anchors_) out.push_back({anchor.path, TRY(read_anchor(anchor.path))});
  return out;
}

void Anchors::write(std::int64_t every) {
  std::lock_guard lock(mutex_);
  auto head = db::read<std::optional<Head>>(log_.sql(),
                                            [&](db::Transaction& tx) { return read_head(tx, log_.keys()); });
  // A log that no longer matches its head is not signed: the older checkpoints are the evidence.
  if (!head || !*head || !(*head)->sealed || (*head)->tainted_at != 0) return;
  std::optional<Checkpoint> checkpoint;
  for (auto& anchor : anchors_) {
    auto due = anchor.own ? 1 : every;
    if (anchor.written >= 0 && (*head)->count - anchor.written < due) continue;
    if (!checkpoint)
      checkpoint = sign_checkpoint(log_.keys().checkpoint, (*head)->count, (*head)->frontier.root(),
                                   (*head)->entry_hash, log_.clock().now());
    if (auto done = write_one(anchor, *checkpoint); !done)
      log::error("audit_anchor_failed", {{"anchor", anchor.path}, {"error", done.error().message}});
  }
}

Result<void> Anchors::write_one(Anchor& anchor, const Checkpoint& checkpoint) {
  auto text = TRY(read_anchor(anchor.path));
  auto older = TRY(parse_checkpoints(text, log_.keys().checkpoint.public_key));
  if (!older.empty()) {
    if (!TRY(agrees(older.back())))
      return fail(Code::integrity,
                  "the log contradicts its checkpoint over {} entries; run dashctl audit verify",
                  older.back().size);
    anchor.written = older.back().size;
    if (older.back().size >= checkpoint.size) return {};
  }
  if (anchor.own) {
    TRY(dash::write_file(anchor.path, checkpoint.note, 0600));
  } else {
    TRY(append_file(anchor.path, (text.empty() ? "" : "\n") + checkpoint.note));
  }
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
