#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/output.hpp"
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

// --password-file names the account's new password here, so the login's own has another flag.
void declare_target(Flags& flags, UserFlags& into) {
  flags.text("--target", into.instance.target, "URL", "the instance at this address, through its API")
      .excludes("--data-dir");
  declare_local(flags, into.instance.local);
  flags.text("--admin-user", into.instance.login.admin_user, "NAME", "sign in there as this administrator");
  flags.text("--admin-password-file", into.instance.login.password_file, "FILE",
             "its password; - for stdin; asked for when left out");
  into.instance.login.password_flag = "--admin-password-file";
  flags.text("--token-file", into.instance.login.token_file, "FILE",
             "a file with the token of a login; - for stdin");
  flags.text("--ca-bundle", into.instance.login.ca_bundle, "FILE", "PEM roots to trust beside the system's");
}

Result<OrderedJson> user_document(const Result<Json>& answer) {
  if (!answer) return Failure(answer.error());
  return OrderedJson(*answer);
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
  auto o = std::make_shared<UserFlags>();
  flags.argument("NAME", o->name, "name of the account; compared in lower case").required();
  declare_target(flags, *o);
  flags.text("--password-file", o->password_file, "FILE",
             "its password; - for stdin; asked for when left out");
  flags.toggle("--admin", o->is_admin, "an administrator");
  flags.list("--workgroup", o->workgroups, "NAME", "member of this workgroup, made when new");
  flags.list("--grant", o->grants, "PERMISSION", "such as change_windows:use");
  return [o](Context& context) -> Result<void> {
    auto password =
        TRY(new_password_from(context, o->password_file, "Password of " + o->name, "--password-file"));
    auto instance = TRY(open_instance(context, o->instance, Login::session, IfAbsent::make));
    OrderedJson made;
    if (instance.api) {
      made = TRY(user_document(instance.api->post("/api/users", {{"username", o->name},
                                                                 {"password", password.expose()},
                                                                 {"is_admin", o->is_admin},
                                                                 {"workgroups", o->workgroups},
                                                                 {"grants", o->grants}})));
    } else {
      identity::NewUser user{o->name, password, o->is_admin, o->grants, o->workgroups};
      made = identity::to_json(TRY(instance.local->services().accounts.add(instance.who, user)));
    }
    context.out.line("added {}", printable(made.at("username").get<std::string>()));
    context.out.document(made);
    return {};
  };
}

// Signs in as the account itself, by its password.
bool is_own_login(const UserFlags& o) {
  const auto& login = o.instance.login;
  return login.token_file.empty() &&
         identity::fold_username(login.admin_user) == identity::fold_username(o.name);
}

// Both doors of a change: PATCH body or UserChange.
Result<OrderedJson> change(OpenInstance& instance, const std::string& name,
                           const identity::UserChange& change) {
  if (!instance.api)
    return identity::to_json(TRY(instance.local->services().accounts.change(instance.who, name, change)));
  Json body = Json::object();
  if (change.password) body["password"] = change.password->expose();
  if (change.current_password) body["current_password"] = change.current_password->expose();
  if (change.revoke_tokens) body["revoke_tokens"] = true;
  if (!change.grant.empty()) body["grant"] = change.grant;
  if (!change.ungrant.empty()) body["ungrant"] = change.ungrant;
  return user_document(instance.api->patch("/api/users/" + net::percent_encode(name), body));
}

// --current-password-file alone says who signs in, and how.
void sign_in_as_oneself(UserFlags& o) {
  auto& login = o.instance.login;
  if (o.current_password_file.empty() || !login.token_file.empty()) return;
  if (login.admin_user.empty()) login.admin_user = o.name;
  if (!is_own_login(o) || !login.password_file.empty()) return;
  login.password_file = o.current_password_file;
  login.password_flag = "--current-password-file";
}

// One's own password needs the current one, which is also the login's. Asked for where nobody said it yet.
Result<std::optional<Secret>> current_password(Context& context, const UserFlags& o, OpenInstance& instance) {
  using Answer = std::optional<Secret>;
  if (!instance.api) return Answer();
  if (is_own_login(o)) return context.password;
  if (!o.current_password_file.empty()) {
    auto given = TRY(read_secret_file(o.current_password_file));
    TRY(check_no_pat(given, instance.api->url()));
    return Answer(std::move(given));
  }
  auto me = TRY(instance.api->get("/api/auth/me"));
  if (string_member(me, "username") != identity::fold_username(o.name)) return Answer();
  return Answer(TRY(secret_from(context, "", "Current password of " + o.name, "--current-password-file")));
}

Run declare_passwd(Flags& flags) {
  auto o = std::make_shared<UserFlags>();
  flags.argument("NAME", o->name, "name of the account").required();
  declare_target(flags, *o);
  flags.text("--password-file", o->password_file, "FILE",
             "the new password; - for stdin; asked for when left out");
  flags.text("--current-password-file", o->current_password_file, "FILE",
             "with --target the current one, for one's own password; - for stdin; asked for when left out");
  flags.toggle("--revoke-tokens", o->revoke_tokens, "and revoke the account's tokens, for one's own password")
      .guard();
  return [o](Context& context) -> Result<void> {
    identity::UserChange wanted;
    wanted.password =
        TRY(new_password_from(context, o->password_file, "New password of " + o->name, "--password-file"));
    wanted.revoke_tokens = o->revoke_tokens;
    sign_in_as_oneself(*o);
    auto instance = TRY(open_instance(context, o->instance, Login::session));
    wanted.current_password = TRY(current_password(context, *o, instance));
    auto user = TRY(change(instance, o->name, wanted));
    context.out.line("changed the password of {}; its sessions have ended",
                     printable(user.at("username").get<std::string>()));
    context.out.document(user);
    return {};
  };
}

Run declare_grant(Flags& flags) {
  auto o = std::make_shared<UserFlags>();
  flags.argument("NAME", o->name, "name of the account").required();
  flags.arguments("PERMISSION", o->grants, "such as change_windows:use");
  flags.list("--revoke", o->revokes, "PERMISSION", "take this one away");
  declare_instance(flags, o->instance);
  return [o](Context& context) -> Result<void> {
    if (o->grants.empty() && o->revokes.empty())
      return fail(Code::usage, "name a PERMISSION to grant or --revoke one");
    identity::UserChange wanted;
    wanted.grant = o->grants;
    wanted.ungrant = o->revokes;
    auto instance = TRY(open_instance(context, o->instance, Login::session));
    auto user = TRY(change(instance, o->name, wanted));
    context.out.line("changed the grants of {}", printable(user.at("username").get<std::string>()));
    context.out.document(user);
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto o = std::make_shared<UserFlags>();
  declare_instance(flags, o->instance);
  return [o](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, o->instance, Login::any));
    auto users = OrderedJson::array();
    if (instance.api) {
      users = OrderedJson(TRY(instance.api->get("/api/users")));
      if (!users.is_array()) return instance.api->strange_answer("/api/users");
    } else {
      for (const auto& user : TRY(instance.local->services().accounts.list(instance.who)))
        users.push_back(identity::to_json(user));
    }
    for (const auto& user : users) context.out.line("{}", user_line(user));
    context.out.document({{"users", users}});
    return {};
  };
}

}  // namespace

Group user_group() {
  return {
      "user",
      "Accounts, their grants and workgroups",
      {{"add", "Add an account", "The first administrator sets the instance up.", declare_add},
       {"passwd", "Set an account's password",
        "Its sessions end. Another's password, and any with --data-dir, is reset: the account's tokens are "
        "revoked and failed logins forgotten.",
        declare_passwd},
       {"list", "List the accounts", "", declare_list},
       {"grant", "Grant or revoke permissions", "", declare_grant}}};
}

}  // namespace dash::cmd
