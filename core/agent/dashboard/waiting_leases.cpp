#include "core/agent/dashboard/waiting_leases.hpp"

#include <algorithm>
#include <utility>

namespace dash::agent {
namespace {

constexpr auto kLeaseLookInterval = std::chrono::milliseconds(200);
// A revocation that is older was seen by an earlier look, or the agent was refused at its request.
constexpr std::chrono::minutes kRecentRevocation{1};

}  // namespace

WaitingLeases::~WaitingLeases() {
  thread_.request_stop();
  changed_.notify_all();
}

WaitingLeases::Lease::Lease(std::shared_ptr<WaitingLeases> owner, std::string agent_id)
    : owner_(std::move(owner)), agent_id_(std::move(agent_id)) {}

WaitingLeases::Lease::~Lease() {
  std::lock_guard lock(owner_->mutex_);
  auto [first, last] = owner_->leases_.equal_range(agent_id_);
  owner_->leases_.erase(
      std::find_if(first, last, [this](const auto& entry) { return entry.second == this; }));
}

bool WaitingLeases::Lease::wait(Wake wake) {
  std::lock_guard lock(owner_->mutex_);
  if (has_news_) return true;
  wake_ = std::move(wake);
  return false;
}

std::unique_ptr<WaitingLeases::Lease> WaitingLeases::enter(const std::shared_ptr<WaitingLeases>& owner,
                                                           const std::string& agent_id) {
  std::lock_guard lock(owner->mutex_);
  if (owner->leases_.size() >= kMaxWaitingLeases) return nullptr;
  std::unique_ptr<Lease> lease(new Lease(owner, agent_id));
  owner->leases_.emplace(agent_id, lease.get());
  if (!owner->thread_.joinable())
    owner->thread_ = std::jthread([self = owner.get()](const std::stop_token& stop) { self->run(stop); });
  owner->changed_.notify_all();
  return lease;
}

void WaitingLeases::notify(const std::string& agent_id) {
  std::vector<Wake> wakes;
  {
    std::lock_guard lock(mutex_);
    auto [first, last] = leases_.equal_range(agent_id);
    for (auto entry = first; entry != last; ++entry) {
      entry->second->has_news_ = true;
      if (entry->second->wake_) wakes.push_back(std::exchange(entry->second->wake_, {}));
    }
  }
  for (const auto& wake : wakes) wake();
}

std::size_t WaitingLeases::count() const {
  std::lock_guard lock(mutex_);
  return leases_.size();
}

void WaitingLeases::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !leases_.empty(); });
      changed_.wait_for(lock, stop, kLeaseLookInterval, [] { return false; });
    }
    if (stop.stop_requested()) return;
    // A database that does not answer is asked again; a lease ends by itself.
    if (auto agents = look())
      for (const auto& id : *agents) notify(id);
  }
}

Result<std::vector<std::string>> WaitingLeases::look() {
  return db::read<std::vector<std::string>>(
      sql_, [&](db::Transaction& tx) -> Result<std::vector<std::string>> {
        std::vector<std::string> out;
        auto now = clock_.now();
        auto rows = TRY(tx.query(R"(SELECT agent_id FROM agent_jobs WHERE state = 'queued' AND expires_at > $1
                                UNION
                                SELECT id FROM agents WHERE revoked_at > $2)",
                                 {to_micros(now), to_micros(now - kRecentRevocation)}));
        for (const auto& row : rows) out.push_back(row.text(0));
        return out;
      });
}

}  // namespace dash::agent
