#include "core/automation/run_request.hpp"

#include <array>

#include "core/automation/hosts.hpp"
#include "core/automation/wrap.hpp"
#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/jobs/secret_mask.hpp"

namespace dash::automation {
namespace {

// What the deployed dashboards' bodies have for runs that ansible on this machine cannot carry out.
constexpr std::array<std::string_view, 3> kForeignMembers{"agent_id", "connection_id", "managed_account"};
constexpr std::string_view kMachineKind = "vm";
constexpr std::array<std::string_view, 2> kBecomePasswords{"ansible_become_pass", "ansible_become_password"};

Result<std::string> run_text(const Json& body, std::string_view name) {
  return std::string(trim(TRY(text_field(body, name)).value_or("")));
}

// An object, or its text as the deployed client sends it.
Result<Json> variables_member(const Json& body, std::string_view name) {
  auto it = body.find(name);
  if (it == body.end() || it->is_null()) return Json::object();
  if (it->is_object()) return *it;
  if (!it->is_string()) return wrong_type(name, "object");
  auto text = trim(it->get_ref<const std::string&>());
  if (text.empty()) return Json::object();
  auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) return wrong_type(name, "object");
  return *parsed;
}

Result<Json> secret_variables(const Json& body) {
  auto variables = TRY(variables_member(body, "secret_vars"));
  for (const auto& [name, value] : variables.items()) {
    if (!value.is_string()) return wrong_type(fmt::format("secret_vars.{}", name), "string");
    TRY(jobs::check_maskable(fmt::format("secret_vars.{}", name), value.get_ref<const std::string&>()));
  }
  return variables;
}

std::vector<std::string> foreign_members(const Json& body) {
  std::vector<std::string> out;
  for (auto name : kForeignMembers)
    if (auto it = body.find(name); it != body.end() && !it->is_null() && *it != "") out.emplace_back(name);
  auto kind = string_member(body, "target_kind").value_or("");
  if (!kind.empty() && kind != kMachineKind) out.emplace_back("target_kind");
  return out;
}

// The deployed client's body of a batch may have the target of a single run too.
Result<Json> entries_of(const Json& body, RunKind kind) {
  auto hosts = body;
  bool is_inventory =
      kind == RunKind::bulk && body.contains("inventory_ids") && !body["inventory_ids"].is_null();
  for (auto member : {"target", "hosts"})
    if (is_inventory) hosts.erase(member);
  return host_entries(hosts);
}

}  // namespace

Result<void> check_secret_names(const Json& secret_vars) {
  auto rest = secret_vars;
  for (auto name : kBecomePasswords) rest.erase(std::string(name));
  return check_variables("secret_vars", rest);
}

Result<RunRequest> read_run_request(const Json& body, RunKind kind) {
  if (!body.contains("asset")) return missing_member("asset");
  RunRequest out;
  out.asset = TRY(text_field(body, "asset")).value_or("");
  if (out.asset.empty()) return wrong_value("asset", "must not be empty");
  out.asset_backend = TRY(run_text(body, "asset_backend"));
  out.workgroup = lower(TRY(run_text(body, "workgroup")));
  out.cloud = config::canonical_cloud(lower(TRY(run_text(body, "cloud"))));
  out.runner = TRY(run_text(body, "runner"));
  out.is_check = TRY(flag_field(body, "check")).value_or(false);
  out.extra_vars = TRY(variables_member(body, "extra_vars"));
  out.secret_vars = TRY(secret_variables(body));
  out.forks = TRY(integer_field(body, "forks"));
  out.max_failures = TRY(integer_field(body, "max_failures"));
  out.host_entries = TRY(entries_of(body, kind));
  if (kind == RunKind::compose) {
    if (!body.contains("project")) return missing_member("project");
    out.project = TRY(run_text(body, "project"));
  }
  out.foreign_members = foreign_members(body);
  return out;
}

Result<void> check_run_request(const RunRequest& request, RunKind kind) {
  TRY(check_variables("extra_vars", request.extra_vars));
  TRY(check_secret_names(request.secret_vars));
  for (const auto& [name, value] : request.secret_vars.items())
    if (request.extra_vars.contains(name))
      return fail(Code::invalid, "the variable '{}' is in extra_vars and in secret_vars; leave one out",
                  name);
  if (request.forks && (*request.forks < 1 || *request.forks > kMaxForks))
    return fail(Code::invalid, "forks is a number from 1 to {}", kMaxForks);
  if (request.max_failures && *request.max_failures < 0)
    return fail(Code::invalid,
                "max_failures is 0 or more: how many hosts may fail before the rest is left out");
  if (kind == RunKind::compose) TRY(check_project(request.project));
  return {};
}

}  // namespace dash::automation
