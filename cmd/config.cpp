#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "cmd/state_flags.hpp"
#include "core/base/file.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/setup/settings_lint.hpp"

namespace dash::cmd {
namespace {

// What a request that changes settings may hold at most.
constexpr std::size_t kMaxValueBytes = 64u << 20;

struct ConfigFlags {
  InstanceFlags instance;
  std::string key, value;
  std::int64_t limit = 50;
  bool reveal = false;
  setup::StateOptions state;
};

std::optional<std::string> find(const config::Values& values, const std::string& key) {
  if (auto parts = config::split_region_key(key)) {
    for (const auto& name : {config::region_blob_key(parts->cloud),
                             config::provider_key(config::region_blob_key(parts->cloud))}) {
      auto blob = values.find(name);
      auto map = config::parse_region_blob(parts->cloud, blob == values.end() ? "" : blob->second);
      if (map && map->contains(parts->region) && (*map)[parts->region].contains(parts->field))
        return (*map)[parts->region][parts->field];
    }
    return std::nullopt;
  }
  for (const auto& name : {config::canonical_key(key), config::provider_key(config::canonical_key(key))})
    if (auto at = values.find(name); at != values.end()) return at->second;
  return std::nullopt;
}

Run declare_get(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  flags
      .argument("KEY", options->key,
                "the setting, in either spelling; <cloud>_region.<region>.<field> is a field of a region set")
      .required();
  flags.toggle("--reveal", options->reveal, "print a secret (with --data-dir)").guard();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    if (options->reveal && !options->instance.target.empty())
      return fail(Code::usage,
                  "--reveal works with --data-dir only: an instance never returns a secret through its API");
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    auto values = TRY(options->reveal ? instance->config->read_revealed() : instance->config->read());
    auto value = find(values, options->key);
    if (!value) return fail(Code::not_found, "the setting '{}' is not set", options->key);
    if (!options->reveal && config::is_masked(*value))
      return fail(Code::forbidden,
                  "{} is a secret; --reveal shows it, with --data-dir on the machine of the instance",
                  options->key);
    if (!context.out.is_json()) context.out.raw(*value + "\n");  // data for a program, byte for byte
    context.out.document({{"key", options->key}, {"value", *value}});
    return {};
  };
}

// An instance that names no change may have changed the setting or not: `changed` is null.
void print_change(Context& context, const std::string& key, std::string_view done,
                  const client::ConfigChange& change) {
  auto& out = context.out;
  if (!change.change_id)
    out.line("{} {} (the instance does not tell whether it differed)", done, printable(key));
  else if (change.change_id->empty())
    out.line("{}: nothing changed", printable(key));
  else
    out.line("{} {} (change {})", done, printable(key), printable(*change.change_id));
  print_left_states(out, change.iac_state_left);
  OrderedJson document{{"key", key}, {"changed", nullptr}, {"change_id", nullptr}};
  if (change.change_id) {
    document["changed"] = !change.change_id->empty();
    document["change_id"] = *change.change_id;
  }
  document["iac_state_left"] = storage::to_json(change.iac_state_left);
  out.document(document);
}

// One newline at the end belongs to the shell, not to the value. An empty value is valid.
Result<std::string> read_value() {
  auto text = TRY(read_stdin(kMaxValueBytes));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Run declare_set(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  flags.argument("KEY", options->key, "the setting, in either spelling").required();
  flags.argument("VALUE", options->value, "its value; - reads stdin, as secrets should be read").required();
  declare_instance(flags, options->instance);
  declare_state(flags, options->state);
  return [options](Context& context) -> Result<void> {
    auto value = options->value == "-" ? TRY(read_value()) : options->value;
    if (config::is_masked(value))
      return fail(Code::invalid, "the value is the mask that stands for a secret; nothing was changed");
    if (options->value != "-" &&
        (config::is_secret(options->key) || config::is_secret_value(options->key, value)))
      context.out.warn(
          "{} is a secret and stood on the command line, where others can see it; use - next time",
          options->key);
    auto instance = TRY(open_instance(context, options->instance, Login::session, IfAbsent::make));
    print_change(context, options->key, "set",
                 TRY(instance->config->change({{options->key, value}}, options->state)));
    return {};
  };
}

Run declare_unset(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  flags.argument("KEY", options->key, "the setting, in either spelling").required();
  declare_instance(flags, options->instance);
  declare_state(flags, options->state);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    print_change(context, options->key, "removed",
                 TRY(instance->config->change({{options->key, std::nullopt}}, options->state)));
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    auto values = TRY(instance->config->read());
    Printer::Batch batch(context.out);
    for (const auto& [key, value] : values) context.out.line("{} = {}", printable(key), printable(value));
    context.out.document({{"values", values}});
    return {};
  };
}

Run declare_lint(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  declare_local(flags, options->instance.local);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_local(options->instance.local));
    auto& store = instance->application().config;
    auto findings = setup::lint_settings(TRY(store.all()), TRY(store.unreadable_keys()));
    auto listed = OrderedJson::array();
    for (const auto& finding : findings) {
      context.out.line("{} {}", printable(finding.key), finding.problem);
      listed.push_back({{"key", finding.key}, {"problem", finding.problem}});
    }
    context.out.document({{"findings", listed}});
    if (!findings.empty()) return fail(Code::invalid, "{} settings need a look", findings.size());
    context.out.line("no problem found");
    return {};
  };
}

Run declare_history(Flags& flags) {
  auto options = std::make_shared<ConfigFlags>();
  flags.argument("KEY", options->key, "only changes of this setting, in either spelling");
  flags.number("--limit", options->limit, "N", "number of changes, newest first; 50 by default").at_least(1);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::session));
    auto entries = TRY(instance->config->history(options->key, options->limit));
    auto text = [](const OrderedJson& entry, const char* name) { return printable(entry.value(name, "")); };
    for (const auto& e : entries)
      context.out.line("{}  {}  {:<8} {:<40} by {} ({})", text(e, "changed_at"), text(e, "change_id"),
                       text(e, "what"), text(e, "key"), text(e, "changed_by"), text(e, "origin"));
    context.out.document({{"history", entries}});
    return {};
  };
}

}  // namespace

Group config_group() {
  return {
      "config",
      "Settings of an instance",
      {{"get",
        "Print one setting",
        "",
        declare_get,
        {{"Print a setting", "dashctl config get app_url"},
         {"Print a secret", "dashctl config get cloud1_secret_access_key --reveal"}}},
       {"set",
        "Set one setting",
        "",
        declare_set,
        {{"Set a setting", "dashctl config set app_url https://dash.example"},
         {"Set a secret", "dashctl config set cloud1_secret_access_key - < secret"}}},
       {"unset",
        "Remove one setting",
        "",
        declare_unset,
        {{"Remove a setting", "dashctl config unset app_url"}}},
       {"list",
        "List all settings, with secrets masked",
        "",
        declare_list,
        {{"List the settings of a running instance",
          "dashctl config list --target https://dash.example --admin-user root --password-file password"}}},
       {"lint",
        "Find invalid values, misspelt names and unreadable rows",
        "",
        declare_lint,
        {{"Check all settings", "dashctl config lint --data-dir /srv/dash"}}},
       {"history",
        "List who changed which setting and when",
        "Values are never shown. `dashctl migrate rollback` undoes a change by its id.",
        declare_history,
        {{"List the latest changes of a setting", "dashctl config history app_url --limit 5"}}}}};
}

}  // namespace dash::cmd
