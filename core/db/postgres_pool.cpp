#include "core/db/postgres_pool.hpp"

#include "core/base/before_wait.hpp"
#include "core/base/metrics.hpp"

namespace dash::db {

Result<std::unique_ptr<PostgresConnection>> reconnect(const std::string& url,
                                                      const PostgresOptions& options) {
  auto connection = PostgresConnection::open(url, options.statement);
  if (connection) return connection;
  return Failure(database_unavailable(connection.error().message + ": " + connection.error().detail));
}

Result<PostgresPool::Lease> PostgresPool::acquire(std::string_view begin) {
  for (;;) {
    Lease lease(*this, TRY(take()));
    const bool is_new = !lease.connection_;
    if (is_new) lease.connection_ = TRY(reconnect(url_, options_));
    auto begun = lease->script(begin);
    if (begun) return lease;
    if (is_new || lease->is_usable()) return Failure(begun.error());
  }
}

Result<std::unique_ptr<PostgresConnection>> PostgresPool::take() {
  before_wait();
  std::unique_lock lock(mutex_);
  ++waiting_;
  show_load();
  bool is_free = freed_.wait_for(lock, options_.wait, [&] { return leased_ < options_.readers; });
  --waiting_;
  if (!is_free)
    return Failure(busy(kDatabaseRetryAfter,
                        "all {} connections to the database are in use; try again shortly",
                        options_.readers));
  ++leased_;
  if (idle_.empty()) return std::unique_ptr<PostgresConnection>();
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void PostgresPool::release(std::unique_ptr<PostgresConnection> connection) {
  std::lock_guard lock(mutex_);
  --leased_;
  if (connection && connection->is_usable()) idle_.push_back(std::move(connection));
  freed_.notify_one();
  show_load();
}

void PostgresPool::show_load() const {
  auto number = [](std::size_t value) { return static_cast<double>(value); };
  metrics::set(metrics::kDatabaseConnections, {"busy"}, number(leased_));
  metrics::set(metrics::kDatabaseConnections, {"idle"}, number(idle_.size()));
  metrics::set(metrics::kDatabaseLimit, {}, number(options_.readers));
  metrics::set(metrics::kDatabaseWaiting, {}, number(waiting_));
}

}  // namespace dash::db
