// The share of a remote agent by jobs of the agent: the interface that the store calls (AgentShare). Large files
// are read in ranges and large folders page by page where the agent can; of another agent the limit is named.
// Thread-safe; one object may serve many requests.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/listing_cache.hpp"
#include "core/agent/dashboard/share_callers.hpp"
#include "core/agent/dashboard/storage_grant.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "core/storage/store/agent/share.hpp"

namespace dash::agent {

// Listings that are being made, so that callers who need the same one wait for it together. Shared by all
// shares of a process.
class ListingsUnderWay {
 public:
  using Listing = Result<std::vector<SharedFile>>;
  // Runs `make`, or waits, as one of `callers`, for another one who makes the same.
  Listing share(const std::string& which, ShareCallers& callers, const std::function<Listing()>& make);

 private:
  struct Entry {
    std::optional<Listing> listing;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

class RemoteShare final : public storage::agent::AgentShare {
 public:
  struct Deps {
    AgentJobs& jobs;
    ListingCache& listings;
    ListingsUnderWay& under_way;
    ShareCallers& callers;
  };
  RemoteShare(Deps deps, storage::agent::ShareSettings settings)
      : deps_(deps), settings_(std::move(settings)) {}

  Result<std::vector<storage::agent::ShareFile>> list() override;
  Result<void> forget_listing() override;
  Result<storage::agent::ShareFile> head(const std::string& name) override;
  Result<storage::agent::ShareRead> read(const std::string& name, std::uint64_t offset,
                                         std::uint64_t size) override;
  Result<storage::agent::ShareFile> write(const std::string& name, std::string_view bytes) override;
  Result<void> remove(const std::string& name) override;

 private:
  Result<GrantedShare> check() const;
  Result<Json> run(const GrantedShare& granted, StorageJob job);
  Result<std::vector<SharedFile>> list_pages(const GrantedShare& granted);
  Result<std::vector<SharedFile>> list_now(const GrantedShare& granted, const ShareFolder& folder,
                                           std::int64_t generation);
  Result<std::vector<SharedFile>> list_kept(const GrantedShare& granted);
  Result<storage::agent::ShareRead> read_range(const GrantedShare& granted, const std::string& name,
                                               std::uint64_t offset, std::uint64_t size);
  Result<storage::agent::ShareRead> read_whole(const GrantedShare& granted, const std::string& name);
  Result<Json> change(const GrantedShare& granted, StorageJob job);
  Deps deps_;
  storage::agent::ShareSettings settings_;
};

// Drops the kept listing of the share that the job changed. For AgentJobs::on_answer, so that an answer that
// nobody waits for any more drops it too.
Result<void> drop_listing_of(db::Transaction& tx, const AgentJob& job);

}  // namespace dash::agent
