// A whole instance in a scratch folder, with fake time, for modules above the database.
#pragma once
#include "core/app/keys.hpp"
#include "core/audit/log.hpp"
#include "core/config/settings.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"
#include "core/setup/config_service.hpp"
#include "core/setup/vaults.hpp"
#include "core/setup/webhooks.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash {

struct TestInstance {
  explicit TestInstance(std::string_view signing_key = "a signing key of a test")
      : keys{Secret(std::string(signing_key)), {}} {}

  void add_user(std::string name, bool admin = false, std::vector<std::string> workgroups = {}) {
    add_account(*sql, directory,
                {std::move(name), Secret("correct horse"), admin, {}, std::move(workgroups)});
  }
  Principal as(const std::string& name) {
    return identity::principal_of(must(directory.find(name)).value(), Via::session, "");
  }
  std::int64_t audited(std::string action) {
    return must(db::read<std::int64_t>(*sql, [&](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT COUNT(*) FROM audit_log WHERE action = $1", {action}))[0].integer(0);
    }));
  }

  Result<std::shared_ptr<storage::ObjectStore>> open_store(const storage::Backend& backend) {
    auto store = stores.find(std::string(backend.id));
    if (store == stores.end()) return fail(Code::unsupported, "there is no such store here");
    return std::shared_ptr<storage::ObjectStore>(store->second);
  }

  app::InstanceKeys keys;
  std::map<std::string, std::shared_ptr<storage::ObjectStore>> stores;  // by backend; none by default
  Scratch scratch;
  FakeClock clock;
  std::unique_ptr<db::Sql> sql = scratch_database(scratch);
  config::EncryptedStore config{*sql, clock, config::derive_store_key(keys.signing, keys.encryption)};
  config::Settings settings{config};
  audit::Log audit{*sql, clock, keys.derive("dashctl audit head v1")};
  identity::Directory directory{*sql, clock};
  identity::Passwords passwords{*sql, clock};
  identity::Sessions sessions{*sql, clock, directory, keys.derive("dashctl session jwt v1")};
  identity::Tokens tokens{*sql, clock, directory};
  identity::SetupCode setup_code{scratch.path()};
  setup::Webhooks webhooks{*sql, clock, config, audit};
  BufferPool buffers{1};
  storage::IacState state{
      [this](const storage::Backend& backend, const config::Values&) { return open_store(backend); },
      {*sql, buffers, clock, scratch / "deploy"}};
  storage::local::RootRules roots{{}};
  setup::ConfigService config_service{
      {*sql, clock, config, settings, audit, directory, setup_code, webhooks, state, roots}};
  setup::Vaults vaults{*sql, clock, audit};
};

}  // namespace dash
