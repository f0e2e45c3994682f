#include "core/setup/vaults.hpp"

#include <algorithm>

#include "core/config/vault_reference.hpp"

namespace dash::setup {
namespace {

constexpr std::size_t kMaxVaultId = 100;

}  // namespace

Result<std::vector<Vault>> Vaults::list(const Principal& principal) {
  TRY(require_admin(principal));
  return db::read<std::vector<Vault>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<Vault>> {
    std::vector<Vault> out;
    for (const auto& row :
         TRY(tx.query("SELECT id, backend, created_at, created_by FROM vaults ORDER BY id, backend")))
      out.push_back({row.text(0), row.text(1), from_micros(row.integer(2)), row.text(3)});
    return out;
  });
}

Result<Vault> Vaults::add(const Principal& principal, const std::string& id, const std::string& backend) {
  TRY(require_admin(principal));
  bool nameable = !id.empty() && id.size() <= kMaxVaultId && std::ranges::all_of(id, [](char c) {
    return static_cast<unsigned char>(c) > 32 && c != 127 && c != '/';
  });
  if (!nameable)
    return fail(Code::invalid, "a vault's id has 1 to {} bytes without '/', spaces and control characters",
                kMaxVaultId);
  if (std::ranges::find(config::kVaultSchemes, backend) == config::kVaultSchemes.end())
    return fail(Code::invalid, "Unknown backend '{}'. Expected one of: {}.", backend,
                fmt::join(config::kVaultSchemes, ", "));
  Vault vault{id, backend, clock_.now(), principal.username};
  TRY(sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto made = TRY(tx.exec(R"(INSERT INTO vaults (id, backend, created_at, created_by)
                               VALUES ($1, $2, $3, $4)
                               ON CONFLICT DO NOTHING)",
                            {id, backend, to_micros(vault.created_at), principal.username}));
    if (made == 0) return fail(Code::conflict, "the vault '{}' ({}) is already registered", id, backend);
    TRY(audit_.append(tx, audit::make_event(principal, "vault.create", id, {{"backend", backend}})));
    return {};
  }));
  return vault;
}

Result<void> Vaults::remove(const Principal& principal, const std::string& id, const std::string& backend) {
  TRY(require_admin(principal));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto gone = TRY(tx.exec("DELETE FROM vaults WHERE id = $1 AND ($2 = '' OR backend = $2)", {id, backend}));
    if (gone == 0) return fail(Code::not_found, "there is no vault '{}'", id);
    TRY(audit_.append(tx, audit::make_event(principal, "vault.delete", id, {{"backend", backend}})));
    return {};
  });
}

OrderedJson to_json(const Vault& v) {
  return {{"id", v.id},
          {"backend", v.backend},
          {"created_at", format_iso_micros(v.created_at)},
          {"created_by", v.created_by}};
}

}  // namespace dash::setup
