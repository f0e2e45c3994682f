#include "core/audit/verify.hpp"

#include <algorithm>

#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

// Every checkpoint of every anchor, by size.
struct AnchoredCheckpoint {
  Checkpoint checkpoint;
  std::string anchor;
};

Failure stop() { return fail(Code::integrity, "stopped"); }

class LogVerifier {
 public:
  LogVerifier(VerifyResult& result, std::vector<AnchoredCheckpoint> anchored)
      : result_(result), anchored_(std::move(anchored)) {
    std::ranges::stable_sort(anchored_, {}, [](const AnchoredCheckpoint& c) { return c.checkpoint.size; });
    check_anchored();
  }

  // Returns false once an entry does not match its predecessor.
  bool add(const std::optional<LogEntry>& entry) {
    auto expected = frontier_.size() + 1;
    if (!entry || entry->seq != expected) {
      auto found = entry ? fmt::format("entry {} follows entry {}", entry->seq, expected - 1)
                         : fmt::format("entry {} cannot be read", expected);
      report_problem(entry && entry->seq < expected ? entry->seq : expected, std::move(found));
      return false;
    }
    encode_body(hash_, *entry, body_);
    if (hash_of(body_, entry->seal) != entry->entry_hash) {
      report_problem(expected, fmt::format("entry {} was altered, or an entry before it", expected));
      return false;
    }
    hash_ = entry->entry_hash;
    frontier_.add(hash_);
    check_anchored();
    return true;
  }

  // After the last entry: reports what the anchors have and the log does not.
  void finish() {
    if (next_ < anchored_.size() && !result_.first_broken_seq) {
      report_problem(
          frontier_.size() + 1,
          fmt::format("{} covers {} entries and the log has {}: its end was cut", anchored_.back().anchor,
                      anchored_.back().checkpoint.size, frontier_.size()));
    }
    result_.entry_hash = frontier_.size() == 0 ? "" : hash_;
    result_.root = frontier_.root();
    result_.beyond_checkpoint = std::max<std::int64_t>(0, result_.count - result_.checkpoint_size);
  }

  void report_problem(std::optional<std::int64_t> seq, std::string problem) {
    result_.ok = false;
    result_.problems.push_back(std::move(problem));
    if (seq) result_.first_broken_seq = std::min(*seq, result_.first_broken_seq.value_or(*seq));
  }

  const Frontier& frontier() const { return frontier_; }

 private:
  void check_anchored() {
    for (; next_ < anchored_.size() && anchored_[next_].checkpoint.size == frontier_.size(); ++next_) {
      const auto& anchored = anchored_[next_];
      if (anchored.checkpoint.root == frontier_.root()) {
        if (!has_mismatch_) result_.checkpoint_size = frontier_.size();
        result_.has_checkpoint = true;
        continue;
      }
      has_mismatch_ = true;
      report_problem(
          result_.checkpoint_size + 1,
          fmt::format("{} disagrees with the log: an entry from {} to {} is not the one that was signed",
                      anchored.anchor, result_.checkpoint_size + 1, frontier_.size()));
    }
  }

  VerifyResult& result_;
  std::vector<AnchoredCheckpoint> anchored_;
  std::size_t next_ = 0;
  bool has_mismatch_ = false;
  Frontier frontier_;
  std::string hash_ = genesis_hash();
  std::string body_;
};

std::vector<AnchoredCheckpoint> read_anchors(const std::vector<AnchorText>& anchors,
                                             const std::string& public_key, VerifyResult& result) {
  std::vector<AnchoredCheckpoint> anchored;
  for (const auto& anchor : anchors) {
    result.anchors.push_back({anchor.name, 0, anchor.fault});
    auto checkpoints = parse_checkpoints(anchor.text, public_key);
    if (!checkpoints) {
      result.ok = false;
      result.problems.push_back(fmt::format("{}: {}", anchor.name, checkpoints.error().message));
      continue;
    }
    for (auto& checkpoint : *checkpoints) {
      result.anchors.back().size = std::max(result.anchors.back().size, checkpoint.size);
      anchored.push_back({std::move(checkpoint), anchor.name});
    }
  }
  return anchored;
}

Result<void> each_entry(db::Transaction& tx,
                        const std::function<Result<void>(const std::optional<LogEntry>&)>& on_entry) {
  return tx.each(std::string(kSelectEntries) + "ORDER BY seq", {},
                 [&](const db::Row& row) -> Result<void> { return on_entry(entry_from_row(row)); });
}

// Only a callback's own stop() ends an `each` early without an error.
Result<void> run(LogVerifier& verifier, const EntryReader& entries, std::int64_t* seen) {
  bool stopped = false;
  auto walked = entries([&](const std::optional<LogEntry>& entry) -> Result<void> {
    if (seen) ++*seen;
    if (stopped || verifier.add(entry)) return {};
    stopped = true;
    if (seen) return {};  // goes on counting
    return stop();
  });
  if (!walked && !stopped) return Failure(walked.error());
  verifier.finish();
  return {};
}

// Returns the first entry whose seal was not made with the key: there a rewrite without keys began. Called
// only when something is wrong already.
Result<std::optional<std::int64_t>> first_unsealed(db::Transaction& tx, const LogKeys& keys) {
  std::optional<std::int64_t> found;
  std::string prev = genesis_hash();
  std::string body;
  auto walked = each_entry(tx, [&](const std::optional<LogEntry>& entry) -> Result<void> {
    if (!entry) return stop();
    encode_body(prev, *entry, body);
    if (seal_of(keys.seal, body) != entry->seal) {
      found = entry->seq;
      return stop();
    }
    prev = hash_of(body, entry->seal);
    return {};
  });
  if (!walked && walked.error().code != Code::integrity) return Failure(walked.error());
  return found;
}

void check_head(LogVerifier& verifier, const std::optional<Head>& head, VerifyResult& result) {
  auto size = verifier.frontier().size();
  if (!head) return verifier.report_problem(std::nullopt, "the head row was deleted");
  if (!head->sealed)
    return verifier.report_problem(std::nullopt,
                                   "the head row was altered, or written with another signing key");
  if (head->tainted_at != 0)
    return verifier.report_problem(
        head->tainted_at,
        fmt::format("when entry {} was appended, the head no longer matched the log", head->tainted_at));
  if (!result.first_broken_seq && head->count > size)
    return verifier.report_problem(
        size + 1, fmt::format("the head counts {} entries and the log has {}", head->count, size));
  if (!result.first_broken_seq && head->count < size)
    return verifier.report_problem(
        head->count + 1, fmt::format("the head counts {} entries and the log has {}", head->count, size));
  if (!result.first_broken_seq && !(head->frontier == verifier.frontier()))
    verifier.report_problem(std::nullopt, "the entries are not those that the head was sealed over");
}

}  // namespace

OrderedJson to_json(const VerifyResult& result) {
  OrderedJson out;
  out["ok"] = result.ok;
  out["count"] = result.count;
  out["first_broken_seq"] =
      result.first_broken_seq ? OrderedJson(*result.first_broken_seq) : OrderedJson(nullptr);
  out["head"] = {{"count", result.count},
                 {"entry_hash", crypto::to_hex(result.entry_hash)},
                 {"root", crypto::to_base64(result.root)}};
  out["checkpoint"] = nullptr;
  if (result.has_checkpoint)
    out["checkpoint"] = {{"size", result.checkpoint_size}, {"beyond", result.beyond_checkpoint}};
  out["problems"] = result.problems;
  out["public_key"] = verifier_key(result.public_key);
  out["anchors"] = OrderedJson::array();
  for (const auto& status : result.anchors)
    out["anchors"].push_back(
        {{"name", status.name},
         {"size", status.size},
         {"error", status.fault.empty() ? OrderedJson(nullptr) : OrderedJson(status.fault)}});
  return out;
}

Result<VerifyResult> verify(Log& log, const std::vector<AnchorText>& anchors) {
  return db::read<VerifyResult>(log.sql(),
                                [&](db::Transaction& tx) { return verify(tx, log.keys(), anchors); });
}

Result<VerifyResult> verify(db::Transaction& tx, const LogKeys& keys,
                            const std::vector<AnchorText>& anchors) {
  VerifyResult result;
  result.public_key = keys.checkpoint.public_key;
  LogVerifier verifier(result, read_anchors(anchors, keys.checkpoint.public_key, result));
  TRY(run(
      verifier, [&](const auto& on_entry) { return each_entry(tx, on_entry); }, nullptr));
  result.count = TRY(tx.query("SELECT count(*) FROM audit_log"))[0].integer(0);
  check_head(verifier, TRY(read_head(tx, keys)), result);
  if (!result.ok)
    if (auto seq = TRY(first_unsealed(tx, keys)))
      verifier.report_problem(*seq, fmt::format("entry {} was not sealed with this instance's key", *seq));
  result.beyond_checkpoint = std::max<std::int64_t>(0, result.count - result.checkpoint_size);
  return result;
}

Result<VerifyResult> verify_entries(const EntryReader& entries, const std::vector<AnchorText>& anchors,
                                    const std::string& public_key) {
  VerifyResult result;
  result.public_key = public_key;
  LogVerifier verifier(result, read_anchors(anchors, public_key, result));
  TRY(run(verifier, entries, &result.count));
  result.beyond_checkpoint = std::max<std::int64_t>(0, result.count - result.checkpoint_size);
  return result;
}

}  // namespace dash::audit
