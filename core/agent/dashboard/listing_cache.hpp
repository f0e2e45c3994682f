// Listings of agents' shares, kept sealed in the database for all replicas, whole: who may see what of them is
// decided for each caller. A change of a share drops its listing and raises the share's generation, so that a
// listing that began before is not kept. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/protocol/storage_result.hpp"
#include "core/base/clock.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::agent {

inline constexpr std::chrono::minutes kListingLifetime{2};

// Which listing: a folder of a share of an agent.
struct ShareFolder {
  std::string agent_id, share, subpath;
};

struct CachedListing {
  std::int64_t generation = 0;  // for keep()
  std::optional<std::vector<SharedFile>> files;
};

class ListingCache {
 public:
  ListingCache(db::Sql& sql, const Clock& clock, config::EncryptedStore& config)
      : sql_(sql), clock_(clock), config_(config) {}

  // Returns the listing, by name, unless it is older than kListingLifetime.
  Result<CachedListing> find(const ShareFolder& folder);
  // Keeps a listing that began at `began`, after find() returned `generation`; not one that a change overtook.
  Result<void> keep(const ShareFolder& folder, std::int64_t generation, Time began,
                    const std::vector<SharedFile>& files);
  Result<void> drop(const ShareFolder& folder);
  static Result<void> drop(db::Transaction& tx, const ShareFolder& folder);

 private:
  bool is_fresh(Time listed_at) const;
  db::Sql& sql_;
  const Clock& clock_;
  config::EncryptedStore& config_;
};

}  // namespace dash::agent
