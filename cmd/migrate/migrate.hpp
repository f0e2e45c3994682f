// The actions of `dashctl migrate`, one a file; cmd/migrate/migrate.cpp lists them.
#pragma once
#include "cmd/cli/instance.hpp"
#include "cmd/cli/tree.hpp"
#include "core/migrate/apply.hpp"
#include "core/migrate/http_target.hpp"
#include "core/migrate/local_target.hpp"

namespace dash::cmd {

Run declare_export(Flags& flags);
Run declare_diff(Flags& flags);
Run declare_import(Flags& flags);
Run declare_rollback(Flags& flags);
Run declare_shred(Flags& flags);

// --- shared by the actions ---

// An instance as the other side of a migration, and the objects that it refers to.
struct MigrateTarget {
  std::unique_ptr<net::HttpClient> http;
  std::unique_ptr<net::ApiClient> api;
  std::unique_ptr<app::Instance> local;
  std::unique_ptr<migrate::Target> instance;
  bool is_set_up = false;
};
// Requests the status first, and signs in when the instance is set up. `setup_code` opens one that is not.
Result<MigrateTarget> open_migrate_target(Context& context, const InstanceFlags& flags, Secret setup_code,
                                          IfAbsent if_absent = IfAbsent::fail);

migrate::LocalDeps local_deps(app::Application& app);

// Reads and checks the bundle, and opens a sealed one. Warns when other users can read it, and notes edits.
Result<migrate::Bundle> load_bundle(Context& context, const std::string& path,
                                    const std::string& passphrase_file);

// Prints the comparison to stdout and the notes to stderr.
void print_diff(Context& context, const migrate::SelectedConfig& selected, const migrate::Diff& diff,
                bool show_same);

}  // namespace dash::cmd
