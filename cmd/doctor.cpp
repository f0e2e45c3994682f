#include "core/app/doctor.hpp"

#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "core/migrate/bundle/bundle_file.hpp"

namespace dash::cmd {
namespace {

std::string_view word(app::CheckState state) {
  switch (state) {
    case app::CheckState::good:
      return "ok  ";
    case app::CheckState::warning:
      return "warn";
    case app::CheckState::failed:
      return "FAIL";
  }
  return "";
}

Result<app::CheckResults> diagnose(Context& context, const InstanceFlags& flags) {
  if (!flags.target.empty()) {
    auto http = net::make_curl_client();
    auto api = TRY(open_api(context, *http, flags.target, flags.login, Login::any));
    net::ApiAddress address{api.url(),
                            {flags.login.ca_bundle, flags.login.is_insecure},
                            std::chrono::seconds(flags.login.timeout_seconds)};
    auto checks = app::diagnose(*http, address, SystemClock());
    bool has_login = api.has_token() || context.password || !flags.login.admin_user.empty();
    if (!has_login || !app::first_failure(checks)) return checks;
    TRY(sign_in(context, api, flags.login));
    app::add_own_checks(checks, api);
    return checks;
  }
  auto checks = app::diagnose(local_options(flags.local));
  checks.push_back(app::check_bundles(migrate::default_bundle_folder()));
  return checks;
}

Run declare_doctor(Flags& flags) {
  auto options = std::make_shared<InstanceFlags>();
  declare_instance(flags, *options);
  return [options](Context& context) -> Result<void> {
    auto checks = TRY(diagnose(context, *options));
    for (const auto& check : checks)
      context.out.line("{}  {:<20} {}", word(check.state), check.name, printable(check.message));
    context.out.document(app::to_json(checks));
    return app::first_failure(checks);
  };
}

}  // namespace

Group doctor_group() {
  return {
      "doctor",
      "Find what is wrong with an instance",
      {{"",
        "Find what is wrong with an instance",
        "With --data-dir it checks the folder, keys, executors, database, settings, accounts, audit log, "
        "gate, storage backends, clock and leftover bundles. With --target it checks what needs no "
        "login: that the instance answers, that it is ready, and its clock; with an administrator's login "
        "the instance checks itself, too. It repairs nothing. Exits "
        "with 0 when nothing failed, warnings aside, else with the code of the first failure.",
        declare_doctor,
        {{"Check the instance in a folder", "dashctl doctor --data-dir /srv/dash"},
         {"Let an instance check itself",
          "dashctl doctor --target https://dash.example --token-file token"}}}}};
}

}  // namespace dash::cmd
