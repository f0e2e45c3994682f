#include "core/agent/dashboard/listing_cache.hpp"

#include <charconv>

#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

// No member has a line feed: the protocol's rules for names forbid it, and the agent's id is ours.
std::string row_key(const ShareFolder& folder) {
  return crypto::to_hex(
      crypto::sha256(fmt::format("{}\n{}\n{}", folder.agent_id, folder.share, folder.subpath)));
}

std::string sealed_place(const std::string& key) { return "agent_listing:" + key; }

// A line a file: size, etag, name. Names have no white space, etags no control character.
std::string encode(const std::vector<SharedFile>& files) {
  std::string out;
  for (const auto& file : files) out += fmt::format("{}\t{}\t{}\n", file.size, file.etag, file.name);
  return out;
}

Result<std::vector<SharedFile>> decode(std::string_view text) {
  std::vector<SharedFile> out;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto etag = line.find('\t'), name = line.rfind('\t');
    SharedFile file;
    if (name == line.npos || name == etag ||
        std::from_chars(line.data(), line.data() + etag, file.size).ec != std::errc())
      return fail(Code::integrity, "a kept listing is malformed");
    file.etag = line.substr(etag + 1, name - etag - 1);
    file.name = line.substr(name + 1);
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace

// Not after a clock that was set back, either.
bool ListingCache::is_fresh(Time listed_at) const {
  auto age = clock_.now() - listed_at;
  return age >= Time::duration::zero() && age < kListingLifetime;
}

Result<CachedListing> ListingCache::find(const ShareFolder& folder) {
  auto key = row_key(folder);
  auto rows = TRY(db::read<db::Rows>(sql_, [&](db::Transaction& tx) {
    return tx.query("SELECT generation, listed_at, listing FROM agent_listings WHERE share = $1", {key});
  }));
  if (rows.empty()) return CachedListing();
  CachedListing out{rows[0].integer(0), std::nullopt};
  if (rows[0].is_null(1) || rows[0].is_null(2) || !is_fresh(from_micros(rows[0].integer(1)))) return out;
  // What this instance's key does not open is listed again.
  auto opened = config_.open(sealed_place(key), rows[0].blob(2));
  if (opened) out.files = TRY(decode(*opened));
  return out;
}

Result<void> ListingCache::keep(const ShareFolder& folder, std::int64_t generation, Time began,
                                const std::vector<SharedFile>& files) {
  auto key = row_key(folder);
  db::Blob sealed{config_.seal(sealed_place(key), encode(files))};
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        "INSERT INTO agent_listings (share, generation) VALUES ($1, 0) ON CONFLICT (share) DO NOTHING",
        {key}));
    TRY(tx.exec("UPDATE agent_listings SET listed_at = $3, listing = $4 WHERE share = $1 AND generation = $2",
                {key, generation, to_micros(began), sealed}));
    TRY(tx.exec("UPDATE agent_listings SET listed_at = NULL, listing = NULL WHERE listed_at < $1",
                {to_micros(clock_.now() - kListingLifetime)}));
    return {};
  });
}

Result<void> ListingCache::drop(const ShareFolder& folder) {
  return sql_.write([&](db::Transaction& tx) { return drop(tx, folder); });
}

Result<void> ListingCache::drop(db::Transaction& tx, const ShareFolder& folder) {
  TRY(tx.exec(R"(INSERT INTO agent_listings (share, generation) VALUES ($1, 1)
                 ON CONFLICT (share) DO UPDATE
                 SET generation = agent_listings.generation + 1, listed_at = NULL, listing = NULL)",
              {row_key(folder)}));
  return {};
}

}  // namespace dash::agent
