#include "core/audit/prove.hpp"

#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

// The roots of the ranges, each over its own leaves, and of the whole.
struct TreeRoots {
  std::vector<std::string> path;
  Frontier whole;
  std::string last_hash;
};

Result<TreeRoots> roots_of(db::Transaction& tx, const std::vector<LeafRange>& ranges) {
  std::vector<Frontier> frontiers(ranges.size());
  TreeRoots out;
  TRY(tx.each("SELECT entry_hash FROM audit_log ORDER BY seq", {}, [&](const db::Row& row) -> Result<void> {
    auto leaf = out.whole.size();
    out.last_hash = row.blob(0);
    out.whole.add(out.last_hash);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (leaf >= ranges[i].begin && leaf < ranges[i].end) frontiers[i].add(out.last_hash);
    return {};
  }));
  for (const auto& frontier : frontiers) out.path.push_back(frontier.root());
  return out;
}

Result<std::int64_t> size_of(db::Transaction& tx) {
  return TRY(tx.query("SELECT count(*) FROM audit_log"))[0].integer(0);
}

OrderedJson base64_list(const std::vector<std::string>& hashes) {
  auto out = OrderedJson::array();
  for (const auto& hash : hashes) out.push_back(crypto::to_base64(hash));
  return out;
}

Checkpoint signed_now(Log& log, const TreeRoots& roots) {
  return sign_checkpoint(log.keys().checkpoint, roots.whole.size(), roots.whole.root(), roots.last_hash,
                         log.clock().now());
}

}  // namespace

Result<InclusionProof> prove_inclusion(Log& log, std::int64_t seq) {
  return db::read<InclusionProof>(log.sql(), [&](db::Transaction& tx) -> Result<InclusionProof> {
    auto size = TRY(size_of(tx));
    auto rows =
        TRY(tx.query(std::string(kSelectEntries) + "WHERE seq IN ($1, $2) ORDER BY seq", {seq - 1, seq}));
    auto entry = rows.empty() ? std::nullopt : entry_from_row(rows.back());
    if (!entry || entry->seq != seq || seq > size)
      return fail(Code::not_found, "the log has no entry {}; it has {}", seq, size);
    auto before = rows.size() == 2 ? entry_from_row(rows.front()) : std::nullopt;
    auto roots = TRY(roots_of(tx, inclusion_ranges(seq - 1, size)));
    return InclusionProof{*std::move(entry), before ? before->entry_hash : genesis_hash(), roots.path,
                          signed_now(log, roots)};
  });
}

Result<ConsistencyProof> prove_consistency(Log& log, std::int64_t old_size) {
  return db::read<ConsistencyProof>(log.sql(), [&](db::Transaction& tx) -> Result<ConsistencyProof> {
    auto size = TRY(size_of(tx));
    if (old_size < 0 || old_size > size)
      return fail(Code::not_found, "the log never had {} entries; it has {}", old_size, size);
    auto ranges = consistency_ranges(old_size, size);
    auto proved = ranges.size();
    ranges.push_back({0, old_size});
    auto roots = TRY(roots_of(tx, ranges));
    auto old_root = roots.path.back();
    roots.path.resize(proved);
    return ConsistencyProof{old_size, old_root, roots.path, signed_now(log, roots)};
  });
}

OrderedJson to_json(const InclusionProof& proof, const std::string& public_key) {
  OrderedJson out;
  out["kind"] = "inclusion";
  out["seq"] = proof.entry.seq;
  out["size"] = proof.checkpoint.size;
  out["entry"] = to_json(proof.entry);
  out["prev_hash"] = crypto::to_hex(proof.prev_hash);
  out["leaf_hash"] = crypto::to_base64(proof.entry.entry_hash);
  out["path"] = base64_list(proof.path);
  out["checkpoint"] = proof.checkpoint.note;
  out["public_key"] = verifier_key(public_key);
  return out;
}

OrderedJson to_json(const ConsistencyProof& proof, const std::string& public_key) {
  OrderedJson out;
  out["kind"] = "consistency";
  out["old_size"] = proof.old_size;
  out["size"] = proof.checkpoint.size;
  out["old_root"] = crypto::to_base64(proof.old_root);
  out["path"] = base64_list(proof.path);
  out["checkpoint"] = proof.checkpoint.note;
  out["public_key"] = verifier_key(public_key);
  return out;
}

}  // namespace dash::audit
