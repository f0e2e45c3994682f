#include "core/db/exec_many.hpp"

namespace dash::db {

Result<void> exec_many(Transaction& tx, std::span<const Statement> statements) {
  auto* pipelined = dynamic_cast<PipelinedTransaction*>(&tx);
  if (pipelined && statements.size() > 1) return pipelined->exec_pipelined(statements);
  for (const auto& one : statements) TRY(tx.exec(one.sql, one.params));
  return {};
}

}  // namespace dash::db
