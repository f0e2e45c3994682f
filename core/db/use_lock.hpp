// A lock in a database that shows what a process does with it as a whole: any number serve it, or one replaces
// its content.
#pragma once
#include <memory>
#include <string>

#include "core/base/error.hpp"

namespace dash::db {

enum class Use { serving, replacing };

// The lock goes with the object, and with the process.
class UseLock {
 public:
  virtual ~UseLock() = default;
  // Takes the lock again where the database ended the connection that held it. A server calls it once a second.
  virtual Result<void> keep() = 0;
};

// `place` is the path of an SQLite database, or postgres://…. Fails with Code::conflict while another process
// has a use that excludes this one.
Result<std::unique_ptr<UseLock>> lock_database(const std::string& place, Use use);

}  // namespace dash::db
