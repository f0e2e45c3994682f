#include "core/deploy/module_catalog.hpp"

#include <algorithm>
#include <array>

#include "core/deploy/module.hpp"

namespace dash::deploy {
namespace {

// Members of every request: a module that declares one of them gets it from there.
constexpr std::array kRequestMembers{"zone", "workgroup", "cloud", "engine", "node_count", "count", "batch"};

// One that is refused stands for its action too: nothing else runs in its place.
bool has_executable(const jobs::Executors& executors, const std::string& action) {
  return executors.available().contains(action) ||
         std::ranges::any_of(executors.refused(), [&](const auto& one) { return one.action == action; });
}

bool is_callers(std::string_view name) {
  return std::ranges::find(kRequiredVariables, name) == kRequiredVariables.end() &&
         std::ranges::find(kRequestMembers, name) == kRequestMembers.end();
}

}  // namespace

ModuleCatalog::ModuleCatalog(std::string folder, uid_t user)
    : folder_(std::move(folder)), user_(user), executors_(folder_, "", user_) {}

Result<std::optional<jobs::DeclaredVariables>> ModuleCatalog::declared(const std::string& action) const {
  if (has_executable(executors_, action)) return std::nullopt;
  auto module = read_module(folder_, action, user_);
  if (!module || !*module) return std::nullopt;
  jobs::DeclaredVariables out;
  for (const auto& [name, variable] : (*module)->variables)
    if (is_callers(name))
      out[name] = {.is_sensitive = variable.is_sensitive, .is_required = !variable.has_default};
  return out;
}

}  // namespace dash::deploy
