#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct VaultFlags {
  InstanceFlags instance;
  std::string id, backend;
};

Run declare_list(Flags& flags) {
  auto options = std::make_shared<VaultFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto vaults = TRY(instance->vaults->list());
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
    auto vault = TRY(instance->vaults->add(options->id, options->backend));
    context.out.line("registered {} ({})", printable(vault.at("id").get<std::string>()),
                     printable(vault.at("backend").get<std::string>()));
    context.out.document(vault);
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
    TRY(instance->vaults->remove(options->id, options->backend));
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
