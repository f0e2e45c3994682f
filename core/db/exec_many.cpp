#include "core/db/exec_many.hpp"

namespace dash::db {

Result<void> exec_many(Transaction& tx, std::string_view sql, std::span<const Params> rows) {
  auto* pipelined = dynamic_cast<PipelinedTransaction*>(&tx);
  if (pipelined && rows.size() > 1) return pipelined->exec_pipelined(sql, rows);
  for (const auto& params : rows) TRY(tx.exec(sql, params));
  return {};
}

}  // namespace dash::db
