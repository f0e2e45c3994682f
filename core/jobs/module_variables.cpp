#include "core/jobs/module_variables.hpp"

#include <algorithm>

#include "core/base/shape.hpp"
#include "core/config/masking.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kVariables = "variables", kSealedVariables = "sealed_variables";

bool is_identifier(std::string_view name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= kMaxVariableNameBytes && is_letter(name.front()) &&
         std::ranges::all_of(name, may_follow);
}

// A program gets the value by its environment or a file of text: no such value holds a zero byte.
bool holds_zero_byte(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find('\0') != std::string::npos;
  if (!value.is_structured()) return false;
  for (const auto& [key, item] : value.items())
    if (key.find('\0') != std::string::npos || holds_zero_byte(item)) return true;
  return false;
}

Failure not_declared(const DeclaredVariables& declared, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, variable] : declared) names.push_back(known);
  auto of_module =
      names.empty() ? "declares no variable of its own" : fmt::format("declares {}", fmt::join(names, ", "));
  return wrong_value(name,
                     fmt::format("is neither a member of this request nor a variable of the module that "
                                 "runs it, which {}",
                                 of_module));
}

Result<void> check_variable_value(const std::string& name, const Json& value, std::size_t bytes) {
  if (holds_zero_byte(value)) return wrong_value(name, "holds a zero byte, which no program can be given");
  if (bytes > kMaxVariableBytes)
    return wrong_value(name,
                       fmt::format("has {} bytes; a variable has {} at most", bytes, kMaxVariableBytes));
  return {};
}

}  // namespace

Result<ResolvedVariables> resolve_variables(const DeclaredVariables& declared, const Json& members) {
  ResolvedVariables out{Json::object(), Json::object()};
  std::size_t total = 0;
  for (const auto& [name, value] : members.items()) {
    if (!is_identifier(name))
      return wrong_value(name, "is no name of a variable: a letter or _, then letters, digits, _ and -");
    auto known = declared.find(name);
    if (known == declared.end()) return not_declared(declared, name);
    if (value.is_null()) continue;
    auto bytes = dump_json(value).size();
    TRY(check_variable_value(name, value, bytes));
    total += bytes;
    if (total > kMaxVariablesBytes)
      return wrong_value(name, fmt::format("is too much: the variables of a deploy have {} bytes at most",
                                           kMaxVariablesBytes));
    out.shown[name] = known->second.is_sensitive ? Json(config::kMask) : value;
    if (known->second.is_sensitive) out.sealed[name] = value;
    if (out.shown.size() > kMaxVariables)
      return wrong_value(name, fmt::format("is too much: a deploy has {} variables at most", kMaxVariables));
  }
  for (const auto& [name, variable] : declared)
    if (variable.is_required && !out.shown.contains(name))
      return missing_member(name, "the module that runs this request has no default for it");
  return out;
}

Json variable_parameters(const ResolvedVariables& variables) {
  if (variables.sealed.empty()) return Json::object();
  return {{kSealedVariables, variables.sealed}};
}

Json variables_of_job(const Json& request, const Json& parameters) {
  auto shown = request.find(kVariables);
  if (shown == request.end() || !shown->is_object()) return Json::object();
  auto out = *shown;
  auto sealed = parameters.find(kSealedVariables);
  if (sealed == parameters.end() || !sealed->is_object()) return out;
  for (const auto& [name, value] : sealed->items())
    if (out.contains(name)) out[name] = value;
  return out;
}

}  // namespace dash::jobs
