#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "core/identity/accounts.hpp"

namespace dash::cmd {
namespace {

struct UserFlags {
  InstanceFlags instance;
  std::string name, password_file, current_password_file;
  std::vector<std::string> workgroups, grants, revokes;
  bool is_admin = false;
  bool revoke_tokens = false;
};

// --password-file names the account's new password here, so the login's password has another flag.
void declare_target(Flags& flags, UserFlags& into) {
  constexpr auto kSignIn = FlagGroup::sign_in;
  auto& login = into.instance.login;
  declare_url(flags, into.instance.target);
  declare_local(flags, into.instance.local);
  flags.text("--ca-bundle", login.ca_bundle, "FILE", "PEM roots to trust beside the system's")
      .in(FlagGroup::instance);
  flags.text("--admin-user", login.admin_user, "NAME", "sign in as this administrator").in(kSignIn);
  flags.text("--admin-password-file", login.password_file, "FILE", "password, - for stdin; else a prompt")
      .in(kSignIn);
  login.password_flag = "--admin-password-file";
  flags.text("--token-file", login.token_file, "FILE", "file with a token, - for stdin").in(kSignIn);
}

std::string user_line(const OrderedJson& user) {
  auto names = [](const OrderedJson& list) {
    std::string out;
    for (const auto& item : list) out += (out.empty() ? "" : ",") + item.get<std::string>();
    return out.empty() ? std::string("-") : out;
  };
  return fmt::format("{:<24} {:<6} {:<9} {}", printable(user.at("username").get<std::string>()),
                     user.at("is_admin") ? "admin" : "user", user.at("is_active") ? "active" : "disabled",
                     names(user.at("workgroups")));
}

Run declare_add(Flags& flags) {
  auto options = std::make_shared<UserFlags>();
  flags.argument("NAME", options->name, "name of the account, in any case").required();
  declare_target(flags, *options);
  flags.text("--password-file", options->password_file, "FILE",
             "password of the account, - for stdin; else a prompt");
  flags.toggle("--admin", options->is_admin, "make it an administrator");
  flags.list("--workgroup", options->workgroups, "NAME", "add it to this workgroup, created when it is new");
  flags.list("--grant", options->grants, "PERMISSION", "grant this permission, such as change_windows:use");
  return [options](Context& context) -> Result<void> {
    auto password = TRY(read_new_password(context, options->password_file, "Password of " + options->name,
                                          "--password-file"));
    auto instance = TRY(open_instance(context, options->instance, Login::session, IfAbsent::make));
    auto user = TRY(instance->users->add(
        {options->name, password, options->is_admin, options->grants, options->workgroups}));
    context.out.line("added {}", printable(user.at("username").get<std::string>()));
    context.out.document(user);
    return {};
  };
}

// Signs in as the account itself, by its password.
bool is_own_login(const UserFlags& options) {
  const auto& login = options.instance.login;
  return login.token_file.empty() &&
         identity::fold_username(login.admin_user) == identity::fold_username(options.name);
}

// With --current-password-file alone the account itself signs in with it.
void use_own_password(UserFlags& options) {
  auto& login = options.instance.login;
  if (options.current_password_file.empty() || !login.token_file.empty()) return;
  if (login.admin_user.empty()) login.admin_user = options.name;
  if (!is_own_login(options) || !login.password_file.empty()) return;
  login.password_file = options.current_password_file;
  login.password_flag = "--current-password-file";
}

// A change of one's own password needs the current one, which is also the login's. Prompts for it when it is
// not known yet.
Result<std::optional<Secret>> current_password(Context& context, const UserFlags& options,
                                               const OpenInstance& instance) {
  using Answer = std::optional<Secret>;
  if (options.instance.target.empty()) return Answer();  // the operator resets it
  if (is_own_login(options)) return context.password;
  if (!options.current_password_file.empty()) {
    auto given = TRY(read_secret_file(options.current_password_file));
    TRY(check_no_pat(given, context.last_url));
    return Answer(std::move(given));
  }
  if (TRY(instance->users->signed_in_name()) != identity::fold_username(options.name)) return Answer();
  return Answer(
      TRY(read_secret(context, "", "Current password of " + options.name, "--current-password-file")));
}

Run declare_passwd(Flags& flags) {
  auto options = std::make_shared<UserFlags>();
  flags.argument("NAME", options->name, "name of the account").required();
  declare_target(flags, *options);
  flags.text("--password-file", options->password_file, "FILE", "new password, - for stdin; else a prompt");
  flags.text("--current-password-file", options->current_password_file, "FILE",
             "your current password, when you change your own with --target; - for stdin, else a prompt");
  flags
      .toggle("--revoke-tokens", options->revoke_tokens,
              "revoke your tokens too, when you change your own password")
      .guard();
  return [options](Context& context) -> Result<void> {
    identity::UserChange wanted;
    wanted.password = TRY(read_new_password(context, options->password_file,
                                            "New password of " + options->name, "--password-file"));
    wanted.revoke_tokens = options->revoke_tokens;
    use_own_password(*options);
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    wanted.current_password = TRY(current_password(context, *options, instance));
    auto user = TRY(instance->users->change(options->name, wanted));
    context.out.line("changed the password of {}; its sessions have ended",
                     printable(user.at("username").get<std::string>()));
    context.out.document(user);
    return {};
  };
}

Run declare_grant(Flags& flags) {
  auto options = std::make_shared<UserFlags>();
  flags.argument("NAME", options->name, "name of the account").required();
  flags.arguments("PERMISSION", options->grants, "permission to grant, such as change_windows:use");
  flags.list("--revoke", options->revokes, "PERMISSION", "revoke this permission");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    if (options->grants.empty() && options->revokes.empty())
      return fail(Code::usage, "name a PERMISSION to grant or --revoke one");
    identity::UserChange wanted;
    wanted.grant = options->grants;
    wanted.ungrant = options->revokes;
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    auto user = TRY(instance->users->change(options->name, wanted));
    context.out.line("changed the grants of {}", printable(user.at("username").get<std::string>()));
    context.out.document(user);
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<UserFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto users = TRY(instance->users->list());
    for (const auto& user : users) context.out.line("{}", user_line(user));
    context.out.document({{"users", users}});
    return {};
  };
}

}  // namespace

Group user_group() {
  return {"user",
          "Accounts, their grants and workgroups",
          {{"add",
            "Add an account",
            "The first administrator sets the instance up.",
            declare_add,
            {{"Add an administrator", "dashctl user add grace --admin --password-file password"},
             {"Add a member of a workgroup who may approve",
              "dashctl user add joan --workgroup web --grant change_windows:use --password-file password"}}},
           {"passwd",
            "Set an account's password",
            "The account's sessions end. With --data-dir, or for another account than your own, its tokens "
            "are revoked and its failed logins forgotten as well.",
            declare_passwd,
            {{"Reset the password of an account", "dashctl user passwd ada --password-file new-password"},
             {"Change your own",
              "dashctl user passwd ada --target https://dash.example --current-password-file password "
              "--password-file new-password"}}},
           {"list", "List the accounts", "", declare_list, {{"List the accounts", "dashctl user list"}}},
           {"grant",
            "Grant or revoke permissions",
            "",
            declare_grant,
            {{"Let an account approve changes", "dashctl user grant ada change_windows:use"},
             {"Revoke that", "dashctl user grant ada --revoke change_windows:use"}}}}};
}

}  // namespace dash::cmd
