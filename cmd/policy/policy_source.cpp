#include "cmd/policy/policy_source.hpp"

#include <algorithm>
#include <array>

#include "core/base/file.hpp"
#include "core/config/clouds.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kMaxInput = 1u << 20;

Result<std::vector<std::string>> texts(const Json& limits, const char* name) {
  std::vector<std::string> out;
  auto it = limits.find(name);
  if (it == limits.end()) return out;
  if (!it->is_array()) return fail(Code::usage, "limits.{} of the input is no list of strings", name);
  for (const auto& text : *it) {
    if (!text.is_string()) return fail(Code::usage, "limits.{} of the input is no list of strings", name);
    out.push_back(text.get<std::string>());
  }
  return out;
}

// Returns the member of an object, or null. A member of another type is an error, not absent.
Result<Json> member(const Json& object, const char* name, Json::value_t type) {
  auto it = object.find(name);
  if (it == object.end()) return Json();
  if (it->type() == type) return *it;
  return fail(Code::usage, "{} of the input is no {}", name, Json(type).type_name());
}

Result<void> read_document(const Json& document, client::PolicyQuery& into) {
  using Type = Json::value_t;
  into.request = document.at("request");
  if (auto action = TRY(member(document, "action", Type::string)); !action.is_null())
    into.action = action.get<std::string>();
  auto actor = TRY(member(document, "actor", Type::object));
  if (auto name = TRY(member(actor, "username", Type::string)); !name.is_null())
    into.actor.username = name.get<std::string>();
  into.actor.is_admin = TRY(member(actor, "is_admin", Type::boolean)) == true;
  auto iso = TRY(member(TRY(member(document, "now", Type::object)), "iso", Type::string));
  if (!iso.is_null()) into.at = TRY(parse_iso(iso.get<std::string>()));
  auto limits = TRY(member(document, "limits", Type::object));
  if (limits.is_null()) return {};
  policy::Limits parsed;
  parsed.allowed_regions = TRY(texts(limits, "allowed_regions"));
  parsed.denied_instance_types = TRY(texts(limits, "denied_instance_types"));
  parsed.prod_window = TRY(texts(limits, "prod_window"));
  into.limits = std::move(parsed);
  return {};
}

void declare_rules(Flags& flags, SourceFlags& into) {
  flags.text("--policy-dir", into.policy_dir, "DIR",
             "rules in this folder instead of an instance's, with the settings of --set");
  flags.list("--set", into.set, "KEY=VALUE", "setting, such as admission_allowed_regions=us-east-1");
}

}  // namespace

void declare_source(Flags& flags, SourceFlags& into) {
  declare_rules(flags, into);
  declare_instance(flags, into.instance);
}

void declare_local_source(Flags& flags, SourceFlags& into) {
  declare_rules(flags, into);
  declare_local(flags, into.instance.local);
}

constexpr std::array kDecisionKeys{policy::kEnabledKey,   policy::kGatedKey,  policy::kRegionsKey,
                                   policy::kTypesKey,     policy::kWindowKey, policy::kApprovalKey,
                                   policy::kCloudNamesKey};

Result<config::Values> read_settings(const std::vector<std::string>& set) {
  config::Values values;
  for (const auto& pair : set) {
    auto equals = pair.find('=');
    if (equals == pair.npos || equals == 0)
      return fail(Code::usage, "'{}' is not KEY=VALUE; type `--set KEY=VALUE`", pair);
    auto key = config::canonical_key(pair.substr(0, equals));
    if (!std::ranges::count(kDecisionKeys, key))
      return fail(Code::usage, "'{}' is not a setting that the gate reads; it reads {}", key,
                  fmt::join(kDecisionKeys, ", "));
    values[key] = pair.substr(equals + 1);
  }
  return values;
}

Result<PolicySource> open_source(Context& context, const SourceFlags& flags) {
  if (!flags.policy_dir.empty()) {
    auto settings = TRY(read_settings(flags.set));
    auto folder = TRY(client::open_folder_policy_client(flags.policy_dir));
    TRY(folder->use_settings(settings));
    return PolicySource(std::move(folder));
  }
  if (!flags.instance.target.empty() && !flags.set.empty())
    return fail(Code::usage,
                "--set changes what a local question is judged by; it cannot be given with --target");
  PolicySource out(TRY(open_instance(context, flags.instance, Login::any)));
  if (!flags.set.empty()) TRY(out.client().use_settings(TRY(read_settings(flags.set))));
  return out;
}

void declare_query(Flags& flags, QueryFlags& into) {
  flags.text("--action", into.action, "ACTION", "action, such as cloud1:vm:deploy or aws:ec2:deploy");
  flags.text("--input", into.input, "FILE", "request, or a whole input document, as JSON; - for stdin");
  flags.text("--at", into.at, "TIME", "evaluate at this time (ISO 8601, UTC) instead of now");
  flags.text("--user", into.user, "NAME", "account that makes the request");
  flags.toggle("--admin", into.is_admin, "that account is an administrator");
}

Result<client::PolicyQuery> read_query(const QueryFlags& flags) {
  client::PolicyQuery out;
  out.at = SystemClock().now();
  out.actor.username = "operator";
  if (!flags.input.empty()) {
    auto document = TRY(within(flags.input, parse_json(TRY(read_input(flags.input, kMaxInput)))));
    if (!document.is_object()) return fail(Code::usage, "{} does not hold a JSON object", flags.input);
    if (document.contains("request"))
      TRY(read_document(document, out));
    else
      out.request = document;
    if (!out.request.is_object())
      return fail(Code::usage, "the request in {} is not a JSON object", flags.input);
  }
  if (!flags.action.empty()) out.action = flags.action;
  if (!flags.user.empty()) out.actor.username = flags.user;
  if (flags.is_admin) out.actor.is_admin = true;
  if (!flags.at.empty()) out.at = TRY(parse_iso(flags.at));
  if (out.action.empty())
    return fail(Code::usage,
                "name the action to judge: --action cloud1:vm:deploy, or a member \"action\" of the input");
  if (auto checked = policy::check_action(out.action); !checked)
    return fail(Code::usage, "{}", checked.error().message);
  return out;
}

}  // namespace dash::cmd
