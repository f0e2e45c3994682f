#include "core/db/use_lock.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "core/base/fd.hpp"
#include "core/db/postgres_pool.hpp"

namespace dash::db {
namespace {

// The number is "dasu".
constexpr std::string_view kLockServing = "SELECT pg_try_advisory_lock_shared(1684108149)::int";
constexpr std::string_view kLockReplacing = "SELECT pg_try_advisory_lock(1684108149)::int";

Failure in_use(Use wanted) {
  if (wanted == Use::serving)
    return fail(Code::conflict,
                "the database is being copied or restored; start the server when that has ended");
  return fail(Code::conflict,
              "a server runs on the database; stop every `dashctl serve` that uses it, then try again");
}

// flock() on a file beside the database: closing a descriptor of the database itself would end SQLite's locks.
class SqliteUseLock final : public UseLock {
 public:
  explicit SqliteUseLock(Fd fd) : fd_(std::move(fd)) {}
  Result<void> keep() override { return {}; }

 private:
  Fd fd_;
};

Result<std::unique_ptr<UseLock>> lock_file(const std::string& path, Use use) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // A folder that takes no files is served all the same, and nothing can be replaced in it.
  if (fd.get() < 0 && use == Use::serving) return std::unique_ptr<UseLock>(new SqliteUseLock(std::move(fd)));
  if (fd.get() < 0) return fail(Code::busy, "cannot write {}: {}", path, strerror(errno));
  if (::flock(fd.get(), (use == Use::serving ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) return in_use(use);
  return std::unique_ptr<UseLock>(new SqliteUseLock(std::move(fd)));
}

// A lock of the connection, which goes when either side ends.
class PostgresUseLock final : public UseLock {
 public:
  PostgresUseLock(std::string url, Use use) : url_(std::move(url)), use_(use) {}

  Result<void> keep() override {
    if (connection_ && connection_->is_usable() && connection_->script("SELECT 1")) return {};
    connection_ = TRY(reconnect(url_, PostgresOptions()));
    auto taken = connection_->script(use_ == Use::serving ? kLockServing : kLockReplacing);
    if (taken && taken->at(0).flag(0)) return {};
    connection_.reset();
    if (!taken) return Failure(taken.error());
    return in_use(use_);
  }

 private:
  const std::string url_;
  const Use use_;
  std::unique_ptr<PostgresConnection> connection_;
};

}  // namespace

Result<std::unique_ptr<UseLock>> lock_database(const std::string& place, Use use) {
  if (!place.starts_with("postgres")) return lock_file(place + "-use", use);
  auto lock = std::make_unique<PostgresUseLock>(place, use);
  TRY(lock->keep());
  return std::unique_ptr<UseLock>(std::move(lock));
}

}  // namespace dash::db
