#include "core/config/sealed.hpp"

namespace dash::config {

Result<SealedRows> sealed_rows(db::Transaction& tx, std::span<const std::string_view> keys) {
  auto sql = fmt::format("SELECT key, value FROM config WHERE key IN ('{}')", fmt::join(keys, "', '"));
  SealedRows out;
  TRY(tx.each(sql, {}, [&](const db::Row& row) -> Result<void> {
    out.emplace(row.text(0), row.blob(1));
    return {};
  }));
  return out;
}

}  // namespace dash::config
