#include "core/storage/assets/usage.hpp"

#include "core/storage/store/cursor.hpp"

namespace dash::storage {
namespace {

Result<void> add_usage(ObjectStore& store, std::string_view prefix, Usage& usage) {
  std::string cursor;
  do {
    auto page = TRY(store.list(prefix, cursor));
    usage.items += static_cast<std::int64_t>(page.objects.size());
    for (const auto& object : page.objects) usage.bytes += static_cast<std::int64_t>(object.size);
    TRY(advance_cursor(cursor, std::move(page.cursor)));
  } while (!cursor.empty());
  return {};
}

}  // namespace

OrderedJson to_json(const Usage& usage) {
  return {{"items", usage.items}, {"bytes", usage.bytes}, {"at", format_iso(usage.at)}};
}

Result<void> record_usage(db::Sql& sql, const OpenBackend& at, Time now) {
  Usage usage;
  TRY(add_usage(*at.store, at.prefix, usage));
  if (at.descriptor->is_object_store) TRY(add_usage(*at.store, kImagePrefix, usage));
  return sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(INSERT INTO storage_usage (backend, items, bytes, counted_at) VALUES ($1, $2, $3, $4)
                   ON CONFLICT (backend) DO UPDATE SET items = excluded.items, bytes = excluded.bytes,
                                                       counted_at = excluded.counted_at)",
                {at.id(), usage.items, usage.bytes, to_micros(now)}));
    return {};
  });
}

Result<std::map<std::string, Usage>> recorded_usage(db::Sql& sql) {
  using Map = std::map<std::string, Usage>;
  return db::read<Map>(sql, [&](db::Transaction& tx) -> Result<Map> {
    Map usages;
    for (const auto& row : TRY(tx.query("SELECT backend, items, bytes, counted_at FROM storage_usage")))
      usages[row.text(0)] = {row.integer(1), row.integer(2), from_micros(row.integer(3))};
    return usages;
  });
}

}  // namespace dash::storage
