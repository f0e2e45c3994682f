#include "cmd/migrate/migrate.hpp"

#include "cmd/cli/groups.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "core/migrate/bundle/bundle_file.hpp"
#include "core/migrate/bundle/bundle_seal.hpp"

namespace dash::cmd {
migrate::LocalDeps local_deps(app::Application& app) {
  return {app.config, app.config_service, app.webhooks, app.vaults, app.setup_code};
}

Result<MigrateTarget> open_migrate_target(Context& context, const InstanceFlags& flags, Secret setup_code,
                                          IfAbsent if_absent) {
  MigrateTarget out;
  if (flags.target.empty()) {
    if (flags.local.data_dir.empty())
      return fail(Code::usage, "name the instance with --target URL or --data-dir DIR");
    out.local = TRY(open_local(flags.local, if_absent));
    out.instance =
        std::make_unique<migrate::LocalTarget>(flags.local.data_dir, local_deps(out.local->application()));
    out.is_set_up = TRY(out.instance->is_set_up());
    return out;
  }
  out.http = net::make_curl_client();
  out.api = std::make_unique<net::ApiClient>(
      TRY(open_api(context, *out.http, flags.target, flags.login, Login::session)));
  // Before the first request. An unclaimed instance may need no password.
  if (auto read = read_password(context, *out.api, flags.login); !read && read.error().code != Code::usage)
    return Failure(read.error());
  out.instance = std::make_unique<migrate::HttpTarget>(*out.api, std::move(setup_code));
  context.out.set_activity("asking " + out.instance->name());
  out.is_set_up = TRY(out.instance->is_set_up());
  if (out.is_set_up) TRY(sign_in(context, *out.api, flags.login));
  return out;
}

Result<migrate::Bundle> load_bundle(Context& context, const std::string& path,
                                    const std::string& passphrase_file) {
  auto file = TRY(migrate::read_bundle_file(path));
  auto name = path == "-" ? std::string("on stdin") : path;
  bool is_sealed = migrate::is_sealed_bundle(file.text);
  if (file.others_can_read && !is_sealed)
    context.out.warn(
        "OTHER USERS CAN READ {}, and it holds live credentials: run `chmod 600` on it, and replace what "
        "they may have seen",
        path);
  if (is_sealed) {
    auto passphrase =
        TRY(read_secret(context, passphrase_file, "Passphrase of " + name, "--passphrase-file"));
    file.text = TRY(migrate::open_sealed_bundle(file.text, passphrase, name));
  }
  auto bundle = TRY(migrate::parse_bundle(file.text, name));
  for (const auto& remark : bundle.notes) context.out.note("{}: {}", path, one_line(remark));
  return bundle;
}

Group migrate_group() {
  return {
      "migrate",
      "Move a dashboard's configuration from one instance to another",
      {{"export",
        "Write a source's configuration to a bundle",
        "The bundle is a plain JSON file to review and edit. It holds live credentials: shred it after the "
        "cutover.",
        declare_export,
        {{"Export over HTTP",
          "dashctl migrate export --source https://dash.example --admin-user root --password-file password "
          "--out bundle.json"},
         {"Export with all secrets from a container",
          "dashctl migrate export --via docker --container dash --out bundle.json"}}},
       {"diff",
        "Compare a bundle with a target, read-only",
        "Prints ADD, CHANGE, UNKNOWN and SAME with lengths and fingerprints, never values.",
        declare_diff,
        {{"Compare, and pin the result",
          "dashctl migrate diff --bundle bundle.json --target https://dash.example --admin-user root "
          "--password-file password --plan-out plan.json"},
         {"Fail when anything differs",
          "dashctl migrate diff --bundle bundle.json --data-dir /srv/dash --exit-code", 6}}},
       {"import",
        "Compare, and with --apply write a bundle to a target",
        "Writes keys and regions in one request, all or nothing, then the webhooks; reads everything back.",
        declare_import,
        {{"Write a bundle", "dashctl migrate import --bundle bundle.json --data-dir /srv/dash --apply"},
         {"Write exactly what a plan holds",
          "dashctl migrate import --plan plan.json --admin-user root --password-file password --apply"}}},
       {"rollback",
        "Undo an import on a dashctl target",
        "",
        declare_rollback,
        {{"Undo a change", "dashctl migrate rollback --change $CHANGE --data-dir /srv/dash"}}},
       {"shred",
        "Overwrite and remove bundles",
        "",
        declare_shred,
        {{"Remove a bundle", "dashctl migrate shred bundle.json"}}}}};
}

}  // namespace dash::cmd
