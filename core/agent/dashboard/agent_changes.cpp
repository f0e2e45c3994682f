#include "core/agent/dashboard/agent_changes.hpp"

namespace dash::agent {

Result<std::int64_t> newest_agent_change(db::Sql& sql) {
  return db::read<std::int64_t>(sql, [](db::Transaction& tx) -> Result<std::int64_t> {
    return TRY(tx.query("SELECT agents FROM change_head"))[0].integer(0);
  });
}

}  // namespace dash::agent
