// The storage module over stores in memory and a scratch database. Two of them over one database and one set
// of stores are two replicas.
#pragma once
#include "core/audit/log.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/setup_code.hpp"
#include "core/images/image_jobs.hpp"
#include "core/setup/config_service.hpp"
#include "core/storage/assets/migration_jobs.hpp"
#include "core/storage/storage.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_gate.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {

inline Principal make_principal(std::string name, std::set<std::string> workgroups = {},
                                bool is_admin = false) {
  Principal principal;
  principal.username = std::move(name);
  principal.workgroups = std::move(workgroups);
  principal.is_admin = is_admin;
  return principal;
}

// What replicas share: settings, database, clock, the stores by backend id.
struct StorageFixture {
  StorageFixture() {
    set("storage_obj_cloud1_bucket", "b");
    set("storage_active_backend", "obj_cloud1");
    must(sql->write([&](db::Transaction& tx) -> Result<void> {
      identity::Directory directory(*sql, clock);
      TRY(directory.make_workgroup(tx, "web", ""));
      return directory.make_workgroup(tx, "data", "");
    }));
  }
  void set(const std::string& key, const std::string& value) {
    must(config.apply({{key, value}}, {"root", "test"}));
  }
  std::vector<std::string> audited(const std::string& action) {
    using List = std::vector<std::string>;
    return must(db::read<List>(*sql, [&](db::Transaction& tx) -> Result<List> {
      List details;
      for (const auto& row :
           TRY(tx.query("SELECT details FROM audit_log WHERE action = $1 ORDER BY seq", {action})))
        details.push_back(row.text(0));
      return details;
    }));
  }

  Scratch scratch;
  FakeClock clock;
  std::unique_ptr<db::Sql> sql = scratch_database(scratch);
  config::EncryptedStore config{*sql, clock, Secret(std::string(32, 'c'))};
  std::map<std::string, std::shared_ptr<MemoryStore>> stores{
      {"obj_cloud1", std::make_shared<MemoryStore>("memory://one")},
      {"obj_cloud3", std::make_shared<MemoryStore>("memory://three")},
      {"local", std::make_shared<MemoryStore>("memory://local")}};
  std::set<std::string> unreachable;         // backends that cannot be reached
  std::function<void()> on_open;             // called when a process opens a store
  std::shared_ptr<ObjectStore> other_store;  // when set, every backend opens it
  MemoryStore& store() { return *stores.at("obj_cloud1"); }

  Principal admin = make_principal("root", {}, true);
  Principal ann = make_principal("ann", {"web"});
  Principal bob = make_principal("bob", {"data"});
};

inline std::shared_ptr<ObjectStore> unreachable_store() {
  auto store = std::make_shared<FaultyStore>(std::make_shared<MemoryStore>("memory://nowhere"));
  store->fail_every_call(Code::unreachable);
  return store;
}

// One process.
struct Replica {
  explicit Replica(StorageFixture& world)
      : world_(world),
        audit(*world.sql, world.clock, Secret(std::string(32, 'a'))),
        storage(
            {settings, *world.sql, audit, world.clock, buffers, world.scratch / "deploy"},
            [&world](const Backend& backend, const config::Values&) -> Result<std::shared_ptr<ObjectStore>> {
              if (world.unreachable.contains(std::string(backend.id))) return unreachable_store();
              if (world.on_open) world.on_open();
              if (world.other_store) return world.other_store;
              return std::shared_ptr<ObjectStore>(world.stores.at(std::string(backend.id)));
            },
            Secret(std::string(32, 'h'))) {
    runners.add(std::string(kMigrateAction), migrations.runner());
    runners.add(std::string(images::kImageAction), image_jobs.runner());
  }
  StorageFixture& world_;
  BufferPool buffers{4};
  audit::Log audit;
  config::Settings settings{world_.config};
  Storage storage;
  identity::Directory directory{*world_.sql, world_.clock};
  FakeGate gate;
  windows::Windows windows{*world_.sql, world_.clock, audit};
  jobs::Runners runners;
  jobs::Deps job_deps{*world_.sql, world_.clock, world_.config, settings, audit, gate, windows, runners};
  jobs::Jobs jobs{job_deps};
  MigrationJobs migrations{{storage.migration(), storage.stores(), directory, audit, job_deps}};
  images::ImageJobs image_jobs{{storage.stores(), directory, *world_.sql, audit, world_.clock, buffers},
                               job_deps};
  identity::SetupCode setup_code{world_.scratch.path()};
  setup::Webhooks webhooks{*world_.sql, world_.clock, world_.config, audit};
  local::RootRules roots{{}};
  setup::ConfigService config_service{{*world_.sql, world_.clock, world_.config, settings, audit, directory,
                                       setup_code, webhooks, storage.state(), roots}};
  ChunkedUploads& uploads = storage.uploads();
  AssetScopes& scopes = storage.scopes();
  Assets& assets = storage.assets();
};

}  // namespace dash::storage
