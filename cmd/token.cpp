#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/output.hpp"
#include "core/identity/accounts.hpp"

namespace dash::cmd {
namespace {

struct TokenFlags {
  InstanceFlags instance;
  std::string name, id, user;
  std::int64_t days = 0;
};

std::string text_of(const OrderedJson& value) { return value.is_string() ? value.get<std::string>() : "-"; }

Run declare_issue(Flags& flags) {
  auto o = std::make_shared<TokenFlags>();
  flags.argument("NAME", o->name, "what the token is for").required();
  flags.text("--user", o->user, "USER", "whose token; with --target one's own when left out");
  flags.number("--days", o->days, "N", "valid so long; 0 (the default) until it is revoked").at_least(0);
  declare_instance(flags, o->instance);
  return [o](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, o->instance, Login::session));
    OrderedJson issued;
    if (instance.api) {
      Json body{{"name", o->name}, {"expires_days", o->days}};
      if (!o->user.empty()) body["username"] = o->user;
      issued = OrderedJson(TRY(instance.api->post("/api/tokens", body)));
    } else {
      if (o->user.empty()) return fail(Code::usage, "--user names whose token it is");
      auto& accounts = instance.local->services().accounts;
      auto made = TRY(accounts.issue_token(instance.who, {o->name, o->user, o->days}));
      issued = identity::to_json(made.info);
      issued["token"] = made.token.expose();
    }
    context.out.line("{}", issued.at("token").get<std::string>());
    context.out.document(issued);
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto o = std::make_shared<TokenFlags>();
  flags.text("--user", o->user, "USER", "only this one's");
  declare_instance(flags, o->instance);
  return [o](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, o->instance, Login::any));
    auto tokens = OrderedJson::array();
    if (instance.api) {
      auto query = o->user.empty() ? "" : "?username=" + net::percent_encode(o->user);
      tokens = OrderedJson(TRY(instance.api->get("/api/tokens" + query)));
      if (!tokens.is_array()) return instance.api->strange_answer("/api/tokens");
    } else {
      for (const auto& token : TRY(instance.local->services().accounts.list_tokens(instance.who, o->user)))
        tokens.push_back(identity::to_json(token));
    }
    for (const auto& token : tokens)
      context.out.line("{} {:<16} {:<16} {:<28} {}", text_of(token.at("id")),
                       printable(text_of(token.at("name"))), printable(token.value("username", "-")),
                       text_of(token.at("expires_at")), token.at("is_active") ? "active" : "revoked");
    context.out.document({{"tokens", tokens}});
    return {};
  };
}

Run declare_revoke(Flags& flags) {
  auto o = std::make_shared<TokenFlags>();
  flags.argument("ID", o->id, "id of the token, as `token list` prints it").required();
  declare_instance(flags, o->instance);
  return [o](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, o->instance, Login::any));
    if (instance.api) {
      auto path = "/api/tokens/" + net::percent_encode(o->id);
      if (!TRY(instance.api->remove(path)).contains("detail")) return instance.api->strange_answer(path);
    } else {
      TRY(instance.local->services().accounts.revoke_token(instance.who, o->id));
    }
    context.out.line("revoked {}", printable(o->id));
    context.out.document({{"id", o->id}, {"revoked", true}});
    return {};
  };
}

}  // namespace

Group token_group() {
  return {
      "token",
      "Personal access tokens",
      {{"issue", "Issue a token and print it, alone, on stdout",
        "It is shown this once. It works everywhere except on /api/setup/* and for changes of users, tokens "
        "and workgroups; issuing one needs a login.",
        declare_issue},
       {"list", "List tokens", "", declare_list},
       {"revoke", "Revoke a token", "A token may revoke itself; others need a login.", declare_revoke}}};
}

}  // namespace dash::cmd
