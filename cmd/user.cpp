#include "cmd/groups.hpp"
#include "cmd/instance.hpp"
#include "cmd/output.hpp"
#include "cmd/secret_input.hpp"
#include "core/app/accounts.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kGoodPassword = 8;  // NIST SP 800-63B §5.1.1

struct UserFlags {
  InstanceFlags instance;
  std::string name, password_file;
  std::vector<std::string> workgroups, grants, revokes;
  bool is_admin = false;
};

// --password-file names the account's new password here, so the login's own comes from a token or a prompt.
void declare_target(Flags& flags, UserFlags& into) {
  flags.text("--target", into.instance.target, "URL", "the instance at this address, through its API")
      .excludes("--data-dir");
  declare_local(flags, into.instance.local);
  flags.text("--admin-user", into.instance.login.admin_user, "NAME", "sign in there as this administrator");
  flags.text("--token-file", into.instance.login.token_file, "FILE",
             "a file with a token for it; - for stdin");
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

void warn_of(Context& context, const Secret& password) {
  if (password.expose().size() < kGoodPassword)
    context.out.warn("the password is short; a good one has at least {} characters", kGoodPassword);
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
        TRY(new_secret_from(context, o->password_file, "Password of " + o->name, "--password-file"));
    warn_of(context, password);
    auto instance = TRY(open_instance(context, o->instance, Login::any, IfAbsent::make));
    OrderedJson made;
    if (instance.api) {
      made = TRY(user_document(instance.api->post("/api/users", {{"username", o->name},
                                                                 {"password", password.expose()},
                                                                 {"is_admin", o->is_admin},
                                                                 {"workgroups", o->workgroups},
                                                                 {"grants", o->grants}})));
    } else {
      identity::NewUser user{o->name, password, o->is_admin, o->grants, o->workgroups};
      made = app::to_json(TRY(app::add_user(instance.local->services(), instance.who, user)));
    }
    context.out.line("added {}", printable(made.at("username").get<std::string>()));
    context.out.document(made);
    return {};
  };
}

// Both doors of a change: PATCH body or UserChange.
Result<OrderedJson> change(OpenInstance& instance, const std::string& name, const app::UserChange& change) {
  if (!instance.api)
    return app::to_json(TRY(app::change_user(instance.local->services(), instance.who, name, change)));
  Json body = Json::object();
  if (change.password) body["password"] = change.password->expose();
  if (!change.grant.empty()) body["grant"] = change.grant;
  if (!change.ungrant.empty()) body["ungrant"] = change.ungrant;
  return user_document(instance.api->patch("/api/users/" + net::percent_encode(name), body));
}

Run declare_passwd(Flags& flags) {
  auto o = std::make_shared<UserFlags>();
  flags.argument("NAME", o->name, "name of the account").required();
  declare_target(flags, *o);
  flags.text("--password-file", o->password_file, "FILE",
             "the new password; - for stdin; asked for when left out");
  return [o](Context& context) -> Result<void> {
    app::UserChange wanted;
    wanted.password =
        TRY(new_secret_from(context, o->password_file, "New password of " + o->name, "--password-file"));
    warn_of(context, *wanted.password);
    auto instance = TRY(open_instance(context, o->instance, Login::any));
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
    app::UserChange wanted;
    wanted.grant = o->grants;
    wanted.ungrant = o->revokes;
    auto instance = TRY(open_instance(context, o->instance, Login::any));
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
      for (const auto& user : TRY(app::list_users(instance.local->services(), instance.who)))
        users.push_back(app::to_json(user));
    }
    for (const auto& user : users) context.out.line("{}", user_line(user));
    context.out.document({{"users", users}});
    return {};
  };
}

}  // namespace

Group user_group() {
  return {"user",
          "Accounts, their grants and workgroups",
          {{"add", "Add an account", "The first administrator sets the instance up.", declare_add},
           {"passwd", "Set an account's password", "", declare_passwd},
           {"list", "List the accounts", "", declare_list},
           {"grant", "Grant or revoke permissions", "", declare_grant}}};
}

}  // namespace dash::cmd
