#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct TokenFlags {
  InstanceFlags instance;
  std::string name, id, user;
  std::int64_t days = 0;
};

std::string text_of(const OrderedJson& value) { return value.is_string() ? value.get<std::string>() : "-"; }

Run declare_issue(Flags& flags) {
  auto options = std::make_shared<TokenFlags>();
  flags.argument("NAME", options->name, "what the token is for").required();
  flags.text("--user", options->user, "USER", "account of the token; with --target your own by default");
  flags.number("--days", options->days, "N", "days that it is valid; 0, the default, until it is revoked")
      .at_least(0);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    auto issued = TRY(instance->tokens->issue({options->name, options->user, options->days}));
    context.out.line("{}", issued.at("token").get<std::string>());
    context.out.document(issued);
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<TokenFlags>();
  flags.text("--user", options->user, "USER", "only tokens of this account");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto tokens = TRY(instance->tokens->list(options->user));
    for (const auto& token : tokens)
      context.out.line("{} {:<16} {:<16} {:<28} {}", text_of(token.at("id")),
                       printable(text_of(token.at("name"))), printable(token.value("username", "-")),
                       text_of(token.at("expires_at")), token.at("is_active") ? "active" : "revoked");
    context.out.document({{"tokens", tokens}});
    return {};
  };
}

Run declare_revoke(Flags& flags) {
  auto options = std::make_shared<TokenFlags>();
  flags.argument("ID", options->id, "id of the token, as `dashctl token list` prints it").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    TRY(instance->tokens->revoke(options->id));
    context.out.line("revoked {}", printable(options->id));
    context.out.document({{"id", options->id}, {"revoked", true}});
    return {};
  };
}

}  // namespace

Group token_group() {
  return {"token",
          "Personal access tokens",
          {{"issue",
            "Issue a token and print it on stdout",
            "The token is shown only once. It works everywhere except on /api/setup/* and for changes of "
            "users, tokens and workgroups. Issuing one needs a login.",
            declare_issue,
            {{"Issue a token for 90 days", "dashctl token issue ci --user ada --days 90 > token"}}},
           {"list",
            "List tokens",
            "",
            declare_list,
            {{"List the tokens of an account", "dashctl token list --user ada"}}},
           {"revoke",
            "Revoke a token",
            "A token may revoke itself; another one needs a login.",
            declare_revoke,
            {{"Revoke a token", "dashctl token revoke $TOKEN_ID"}}}}};
}

}  // namespace dash::cmd
