#include "core/audit/verify.hpp"

#include <algorithm>

#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

// Every checkpoint of every anchor, by size.
struct Claim {
  Checkpoint checkpoint;
  std::string anchor;
};

Failure stop() { return fail(Code::integrity, "stopped"); }

class Walk {
 public:
  Walk(Verdict& verdict, std::vector<Claim> claims) : verdict_(verdict), claims_(std::move(claims)) {
    std::ranges::stable_sort(claims_, {}, [](const Claim& c) { return c.checkpoint.size; });
    judge_claims();
  }

  // False once an entry is not what its predecessor says.
  bool take(const std::optional<Stored>& entry) {
    auto expected = frontier_.size() + 1;
    if (!entry || entry->seq != expected) {
      auto found = entry ? fmt::format("entry {} follows entry {}", entry->seq, expected - 1)
                         : fmt::format("entry {} cannot be read", expected);
      broken(entry && entry->seq < expected ? entry->seq : expected, std::move(found));
      return false;
    }
    encode_body(hash_, *entry, body_);
    if (hash_of(body_, entry->seal) != entry->entry_hash) {
      broken(expected, fmt::format("entry {} was altered, or an entry before it", expected));
      return false;
    }
    hash_ = entry->entry_hash;
    frontier_.add(hash_);
    judge_claims();
    return true;
  }

  // After the last entry: what the anchors have seen and the log no longer has.
  void finish() {
    if (next_ < claims_.size() && !verdict_.first_broken_seq) {
      broken(frontier_.size() + 1,
             fmt::format("{} covers {} entries and the log has {}: its end was cut", claims_.back().anchor,
                         claims_.back().checkpoint.size, frontier_.size()));
    }
    verdict_.entry_hash = frontier_.size() == 0 ? "" : hash_;
    verdict_.root = frontier_.root();
    verdict_.beyond_checkpoint = std::max<std::int64_t>(0, verdict_.count - verdict_.checkpoint_size);
  }

  void broken(std::optional<std::int64_t> seq, std::string problem) {
    verdict_.ok = false;
    verdict_.problems.push_back(std::move(problem));
    if (seq) verdict_.first_broken_seq = std::min(*seq, verdict_.first_broken_seq.value_or(*seq));
  }

  const Frontier& frontier() const { return frontier_; }

 private:
  void judge_claims() {
    for (; next_ < claims_.size() && claims_[next_].checkpoint.size == frontier_.size(); ++next_) {
      const auto& claim = claims_[next_];
      if (claim.checkpoint.root == frontier_.root()) {
        if (!disagreed_) verdict_.checkpoint_size = frontier_.size();
        verdict_.checkpointed = true;
        continue;
      }
      disagreed_ = true;
      broken(verdict_.checkpoint_size + 1,
             fmt::format("{} disagrees with the log: an entry from {} to {} is not the one that was signed",
                         claim.anchor, verdict_.checkpoint_size + 1, frontier_.size()));
    }
  }

  Verdict& verdict_;
  std::vector<Claim> claims_;
  std::size_t next_ = 0;
  bool disagreed_ = false;
  Frontier frontier_;
  std::string hash_ = genesis_hash();
  std::string body_;
};

std::vector<Claim> read_anchors(const std::vector<AnchorText>& anchors, const std::string& public_key,
                                Verdict& verdict) {
  std::vector<Claim> claims;
  for (const auto& anchor : anchors) {
    verdict.anchors.push_back({anchor.name, 0, anchor.fault});
    auto checkpoints = parse_checkpoints(anchor.text, public_key);
    if (!checkpoints) {
      verdict.ok = false;
      verdict.problems.push_back(fmt::format("{}: {}", anchor.name, checkpoints.error().message));
      continue;
    }
    for (auto& checkpoint : *checkpoints) {
      verdict.anchors.back().size = std::max(verdict.anchors.back().size, checkpoint.size);
      claims.push_back({std::move(checkpoint), anchor.name});
    }
  }
  return claims;
}

Result<void> each_entry(db::Transaction& tx,
                        const std::function<Result<void>(const std::optional<Stored>&)>& take) {
  return tx.each(std::string(kSelectEntries) + "ORDER BY seq", {},
                 [&](const db::Row& row) -> Result<void> { return take(row_to_stored(row)); });
}

// Only a callback's own stop() ends an `each` early without being an error.
Result<void> run(Walk& walk, const EntrySource& entries, std::int64_t* seen) {
  bool stopped = false;
  auto walked = entries([&](const std::optional<Stored>& entry) -> Result<void> {
    if (seen) ++*seen;
    if (stopped || walk.take(entry)) return {};
    stopped = true;
    if (seen) return {};  // goes on counting
    return stop();
  });
  if (!walked && !stopped) return Failure(walked.error());
  walk.finish();
  return {};
}

// Names the first entry whose seal was not made with the key: the place where a rewrite without keys began.
// Only walked when something is wrong already.
Result<std::optional<std::int64_t>> first_unsealed(db::Transaction& tx, const Keys& keys) {
  std::optional<std::int64_t> found;
  std::string prev = genesis_hash();
  std::string body;
  auto walked = each_entry(tx, [&](const std::optional<Stored>& entry) -> Result<void> {
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

void judge_head(Walk& walk, const std::optional<Head>& head, Verdict& verdict) {
  auto size = walk.frontier().size();
  if (!head) return walk.broken(std::nullopt, "the head row was deleted");
  if (!head->sealed)
    return walk.broken(std::nullopt, "the head row was altered, or written with another signing key");
  if (head->tainted_at != 0)
    return walk.broken(
        head->tainted_at,
        fmt::format("when entry {} was appended, the head no longer matched the log", head->tainted_at));
  if (!verdict.first_broken_seq && head->count > size)
    return walk.broken(size + 1,
                       fmt::format("the head counts {} entries and the log has {}", head->count, size));
  if (!verdict.first_broken_seq && head->count < size)
    return walk.broken(head->count + 1,
                       fmt::format("the head counts {} entries and the log has {}", head->count, size));
  if (!verdict.first_broken_seq && !(head->frontier == walk.frontier()))
    walk.broken(std::nullopt, "the entries are not those that the head was sealed over");
}

}  // namespace

OrderedJson to_json(const Verdict& verdict) {
  OrderedJson out;
  out["ok"] = verdict.ok;
  out["count"] = verdict.count;
  out["first_broken_seq"] =
      verdict.first_broken_seq ? OrderedJson(*verdict.first_broken_seq) : OrderedJson(nullptr);
  out["head"] = {{"count", verdict.count},
                 {"entry_hash", crypto::to_hex(verdict.entry_hash)},
                 {"root", crypto::to_base64(verdict.root)}};
  out["checkpoint"] = nullptr;
  if (verdict.checkpointed)
    out["checkpoint"] = {{"size", verdict.checkpoint_size}, {"beyond", verdict.beyond_checkpoint}};
  out["problems"] = verdict.problems;
  out["public_key"] = verifier_key(verdict.public_key);
  out["anchors"] = OrderedJson::array();
  for (const auto& asked : verdict.anchors)
    out["anchors"].push_back(
        {{"name", asked.name},
         {"size", asked.size},
         {"error", asked.fault.empty() ? OrderedJson(nullptr) : OrderedJson(asked.fault)}});
  return out;
}

Result<Verdict> verify(Log& log, const std::vector<AnchorText>& anchors) {
  return db::read<Verdict>(log.sql(), [&](db::Transaction& tx) { return verify(tx, log.keys(), anchors); });
}

Result<Verdict> verify(db::Transaction& tx, const Keys& keys, const std::vector<AnchorText>& anchors) {
  Verdict verdict;
  verdict.public_key = keys.checkpoint.public_key;
  Walk walk(verdict, read_anchors(anchors, keys.checkpoint.public_key, verdict));
  TRY(run(
      walk, [&](const auto& take) { return each_entry(tx, take); }, nullptr));
  verdict.count = TRY(tx.query("SELECT count(*) FROM audit_log"))[0].integer(0);
  judge_head(walk, TRY(read_head(tx, keys)), verdict);
  if (!verdict.ok)
    if (auto seq = TRY(first_unsealed(tx, keys)))
      walk.broken(*seq, fmt::format("entry {} was not sealed with this instance's key", *seq));
  verdict.beyond_checkpoint = std::max<std::int64_t>(0, verdict.count - verdict.checkpoint_size);
  return verdict;
}

Result<Verdict> verify_entries(const EntrySource& entries, const std::vector<AnchorText>& anchors,
                               const std::string& public_key) {
  Verdict verdict;
  verdict.public_key = public_key;
  Walk walk(verdict, read_anchors(anchors, public_key, verdict));
  TRY(run(walk, entries, &verdict.count));
  verdict.beyond_checkpoint = std::max<std::int64_t>(0, verdict.count - verdict.checkpoint_size);
  return verdict;
}

}  // namespace dash::audit
