#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "core/setup/vaults.hpp"

namespace dash::cmd {
namespace {

struct VaultFlags {
  InstanceFlags instance;
  std::string id, backend;
};

constexpr std::string_view kRoute = "/api/secrets/vaults";

Run declare_list(Flags& flags) {
  auto options = std::make_shared<VaultFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto vaults = OrderedJson::array();
    if (instance.api) {
      vaults = OrderedJson(TRY(instance.api->get(kRoute)).at("vaults"));
    } else {
      for (const auto& vault : TRY(instance.local->application().vaults.list(instance.principal)))
        vaults.push_back(setup::to_json(vault));
    }
    for (const auto& vault : vaults)
      context.out.line("{:<24} {}", printable(vault.at("id").get<std::string>()),
                       vault.at("backend").get<std::string>());
    context.out.document({{"vaults", vaults}});
    return {};
  };
}

Run declare_add(Flags& flags) {
  auto options = std::make_shared<VaultFlags>();
  flags.argument("ID", options->id, "name of the vault in references such as azure_kv://ID/secret")
      .required();
  flags.argument("BACKEND", options->backend, "aws_sm, azure_kv, gcp_sm, bt_safe or wlc").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    OrderedJson made;
    if (instance.api)
      made =
          OrderedJson(TRY(instance.api->post(kRoute, {{"id", options->id}, {"backend", options->backend}})));
    else
      made = setup::to_json(
          TRY(instance.local->application().vaults.add(instance.principal, options->id, options->backend)));
    context.out.line("registered {} ({})", printable(made.at("id").get<std::string>()),
                     printable(made.at("backend").get<std::string>()));
    context.out.document(made);
    return {};
  };
}

Run declare_remove(Flags& flags) {
  auto options = std::make_shared<VaultFlags>();
  flags.argument("ID", options->id, "name of the vault in references").required();
  flags.text("--backend", options->backend, "BACKEND", "remove only the registration for this backend");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    if (instance.api) {
      auto query = options->backend.empty() ? "" : "?backend=" + net::percent_encode(options->backend);
      auto path = fmt::format("{}/{}{}", kRoute, net::percent_encode(options->id), query);
      if (TRY(instance.api->remove(path)).at("ok") != true) return instance.api->unexpected_response(kRoute);
    } else {
      TRY(instance.local->application().vaults.remove(instance.principal, options->id, options->backend));
    }
    context.out.line("removed {}", printable(options->id));
    context.out.document({{"id", options->id}, {"removed", true}});
    return {};
  };
}

}  // namespace

Group vault_group() {
  return {"vault",
          "Secret vaults that references may name",
          {{"list",
            "List the registered vaults",
            "",
            declare_list,
            {{"List the registered vaults", "dashctl vault list"}}},
           {"add",
            "Register a vault",
            "",
            declare_add,
            {{"Register a vault", "dashctl vault add primary azure_kv"}}},
           {"remove",
            "Remove a vault's registration",
            "The vault itself does not change.",
            declare_remove,
            {{"Remove a registration", "dashctl vault remove backup --backend azure_kv"}}}}};
}

}  // namespace dash::cmd
