#include "core/app/database_target.hpp"

#include <filesystem>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "core/db/schema.hpp"
#include "core/db/tables.hpp"

namespace dash::app {
namespace {

std::string file_in(const std::string& data_dir) { return data_dir + "/dashctl.db"; }

// Another number than any copy has, so that what a process keeps in memory is read again.
Result<void> renew_version(db::Transaction& tx) {
  auto bytes = crypto::random_bytes(7);
  std::int64_t number = 1;
  for (char c : bytes) number = (number << 8) | static_cast<unsigned char>(c);
  TRY(tx.exec("UPDATE kept_version SET number = $1", {number}));
  return {};
}

}  // namespace

Result<InstanceKeys> require_keys(const std::string& data_dir, const std::string& signing_key_file,
                                  const std::string& encryption_key_file) {
  InstanceKeys keys;
  auto path = signing_key_file.empty() ? data_dir + "/signing.key" : signing_key_file;
  auto signing = read_key(path);
  if (!signing && signing.error().code == Code::not_found)
    return fail(
        Code::conflict,
        "there is no signing key at {}; put the instance's key there, or name it with --signing-key-file",
        path);
  keys.signing = TRY(std::move(signing));
  if (!encryption_key_file.empty()) keys.encryption = TRY(read_key(encryption_key_file));
  return keys;
}

Result<std::unique_ptr<db::Sql>> open_database(const std::string& data_dir, const std::string& url) {
  if (!url.empty()) return db::open_postgres(url);
  std::error_code ignored;
  if (!std::filesystem::exists(file_in(data_dir), ignored))
    return fail(Code::not_found, "there is no database in {}", data_dir);
  return db::open_sqlite(file_in(data_dir));
}

std::string database_place(const std::string& data_dir, const std::string& url) {
  return url.empty() ? file_in(data_dir) : url;
}

Result<std::unique_ptr<DatabaseTarget>> DatabaseTarget::open(const std::string& data_dir,
                                                             const std::string& url) {
  std::unique_ptr<DatabaseTarget> target(new DatabaseTarget());
  std::error_code ignored;
  if (url.empty()) {
    if (!std::filesystem::exists(data_dir, ignored)) target->made_folder_ = data_dir;
    TRY(make_folder(data_dir, 0700));
    if (!std::filesystem::exists(file_in(data_dir), ignored)) target->made_file_ = file_in(data_dir);
  }
  target->sql_ = TRY(url.empty() ? db::open_sqlite(file_in(data_dir)) : db::open_postgres(url));
  target->lock_ = TRY(db::lock_database(database_place(data_dir, url), db::Use::replacing));
  return target;
}

DatabaseTarget::~DatabaseTarget() {
  lock_.reset();
  sql_.reset();
  std::error_code ignored;
  if (!made_file_.empty())
    for (auto end : {"", "-wal", "-shm", "-use"}) std::filesystem::remove(made_file_ + end, ignored);
  if (!made_folder_.empty()) std::filesystem::remove(made_folder_, ignored);  // unless something is in it
}

Result<void> DatabaseTarget::replace(std::int64_t schema, const db::TransactionFn& load,
                                     const db::TransactionFn& finish) {
  TRY(sql_->write([&](db::Transaction& tx) -> Result<void> {
    if (tx.is_postgres()) TRY(tx.exec("SET LOCAL statement_timeout TO 0"));
    if (TRY(db::has_accounts(tx)))
      return fail(Code::conflict, "the instance has accounts, which this would replace; take an empty one");
    TRY(db::clear_to_schema(tx, schema));
    TRY(load(tx));
    TRY(db::migrate_schema_to(tx, db::newest_schema()));
    TRY(renew_version(tx));
    return finish(tx);
  }));
  made_file_.clear();
  made_folder_.clear();
  return {};
}

}  // namespace dash::app
