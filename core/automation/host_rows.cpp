#include "core/automation/host_rows.hpp"

namespace dash::automation {
namespace {

constexpr std::string_view kSelectHosts =
    R"(SELECT name, address, port, login, connection, host_key, variables, host_groups, workgroup, secret,
              secret_kind, created_at, created_by
       FROM hosts )";

std::string host_secret_place(const std::string& name) { return "host secret " + name; }

db::Blob seal_host_secret(const config::EncryptedStore& store, const Host& host) {
  return {host.secret.empty() ? "" : store.seal(host_secret_place(host.name), host.secret.expose())};
}

db::Value host_workgroup(const Host& host) {
  return host.workgroup ? db::Value(*host.workgroup) : db::Value(nullptr);
}

Result<HostRow> read_host_row(const db::Row& row) {
  HostRow out;
  auto& host = out.host;
  host.is_kept = true;
  host.name = row.text(0), host.written_address = host.address = row.text(1);
  host.port = static_cast<int>(row.integer(2));
  host.user = row.text(3);
  host.connection = connection_of(row.text(4));
  host.host_key = row.text(5);
  host.variables = TRY(parse_json(row.text(6)));
  host.groups = TRY(parse_json(row.text(7))).get<std::vector<std::string>>();
  if (!row.is_null(8)) host.workgroup = row.text(8);
  out.sealed_secret = row.blob(9);
  host.secret_kind = secret_kind_named(row.text(10));
  host.created_at = from_micros(row.integer(11)), host.created_by = row.text(12);
  return out;
}

}  // namespace

Result<std::vector<HostRow>> select_hosts(db::Transaction& tx) {
  std::vector<HostRow> out;
  for (const auto& row : TRY(tx.query(std::string(kSelectHosts) + "ORDER BY name")))
    out.push_back(TRY(read_host_row(row)));
  return out;
}

Result<std::optional<HostRow>> select_host(db::Transaction& tx, const std::string& name) {
  auto rows = TRY(tx.query(std::string(kSelectHosts) + "WHERE name = $1", {name}));
  if (rows.empty()) return std::optional<HostRow>();
  return std::optional<HostRow>(TRY(read_host_row(rows[0])));
}

Result<bool> insert_host(db::Transaction& tx, const config::EncryptedStore& store, const Host& host) {
  auto made =
      TRY(tx.exec(R"(INSERT INTO hosts (name, address, port, login, connection, host_key, variables,
                                                host_groups, workgroup, secret, secret_kind, created_at,
                                                created_by)
                             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                             ON CONFLICT DO NOTHING)",
                  {host.name, host.written_address, std::int64_t{host.port}, host.user,
                   std::string(word(host.connection)), host.host_key, dump_json(host.variables),
                   dump_json(Json(host.groups)), host_workgroup(host), seal_host_secret(store, host),
                   std::string(word(host.secret_kind)), to_micros(host.created_at), host.created_by}));
  return made == 1;
}

Result<void> update_host(db::Transaction& tx, const Host& host) {
  TRY(tx.exec(R"(UPDATE hosts
                 SET address = $2, port = $3, login = $4, connection = $5, host_key = $6, variables = $7,
                     host_groups = $8, workgroup = $9
                 WHERE name = $1)",
              {host.name, host.written_address, std::int64_t{host.port}, host.user,
               std::string(word(host.connection)), host.host_key, dump_json(host.variables),
               dump_json(Json(host.groups)), host_workgroup(host)}));
  return {};
}

Result<void> update_host_secret(db::Transaction& tx, const config::EncryptedStore& store, const Host& host) {
  TRY(tx.exec("UPDATE hosts SET secret = $2, secret_kind = $3 WHERE name = $1",
              {host.name, seal_host_secret(store, host), std::string(word(host.secret_kind))}));
  return {};
}

Result<Secret> open_host_secret(const config::EncryptedStore& store, const HostRow& row) {
  if (row.sealed_secret.empty()) return Secret();
  auto opened = store.open(host_secret_place(row.host.name), row.sealed_secret);
  if (opened) return Secret(*std::move(opened));
  return fail(Code::conflict,
              "the secret of host '{}' cannot be opened with this instance's key; an administrator must set "
              "it again",
              row.host.name);
}

}  // namespace dash::automation
