// Enrolment: an agent turns its code into an identity. A code works once, for 15 minutes; bad ones are counted by
// address and in all.
#pragma once
#include "core/agent/dashboard/deps.hpp"
#include "core/agent/protocol/documents.hpp"
#include "core/identity/throttle.hpp"

namespace dash::agent {

class Enrolment {
 public:
  explicit Enrolment(Deps deps) : deps_(deps), failures_(deps.sql, deps.clock) {}

  // Decides before a body is read. Code::not_found while remote_agents_enabled is off; Code::throttled, whatever
  // the code, after too many bad ones.
  Result<void> admit(const std::string& address);
  // `origin` is what the caller knows this dashboard by. Code::invalid for a bad code, or a bad key, which spends
  // no code; Code::throttled as above.
  Result<EnrolReply> enrol(const EnrolRequest& request, const std::string& address,
                           const std::string& origin);

 private:
  struct Limits {
    bool is_on = true;
    identity::AttemptLimit per_address, global;
  };
  Result<Limits> limits();
  Result<void> check(db::Transaction& tx, const Limits& limits, const std::string& address);
  Result<void> count(db::Transaction& tx, const Limits& limits, const std::string& address);
  Result<std::optional<EnrolReply>> enrol_in(db::Transaction& tx, const EnrolRequest& request,
                                             const std::string& address, const std::string& origin);

  Deps deps_;
  identity::Throttle failures_;
};

}  // namespace dash::agent
