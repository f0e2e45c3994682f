// The connections by which a process reads, at most so many at once. Who waits too long for one is refused, so
// that a burst takes neither the server's connections from other replicas nor this process's threads.
#pragma once
#include <condition_variable>
#include <mutex>

#include "core/db/postgres.hpp"
#include "core/db/postgres_connection.hpp"

namespace dash::db {

class PostgresPool {
 public:
  PostgresPool(std::string url, const PostgresOptions& options) : url_(std::move(url)), options_(options) {}

  // A connection goes back when its lease ends; one that was cut is closed.
  class Lease {
   public:
    Lease(PostgresPool& pool, std::unique_ptr<PostgresConnection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_) pool_->release(std::move(connection_));
    }
    PostgresConnection& operator*() const { return *connection_; }
    PostgresConnection* operator->() const { return connection_.get(); }

   private:
    friend class PostgresPool;
    PostgresPool* pool_;
    std::unique_ptr<PostgresConnection> connection_;  // empty while it is not open yet
  };

  // Returns a connection in which `begin` has been run. One that a restart of the server cut is replaced.
  Result<Lease> acquire(std::string_view begin);

 private:
  // nullptr: a new one may be opened, and is counted already.
  Result<std::unique_ptr<PostgresConnection>> take();
  void release(std::unique_ptr<PostgresConnection> connection);
  void show_load() const;  // as metrics; under mutex_

  const std::string url_;
  const PostgresOptions options_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
  std::size_t leased_ = 0, waiting_ = 0;
};

// Opens a connection while requests are served: a lost database is a reason to try again, and its address is
// not public.
Result<std::unique_ptr<PostgresConnection>> reconnect(const std::string& url, const PostgresOptions& options);

}  // namespace dash::db
