// Resolves a deploy or provision body: every default filled in, both spellings accepted, one item for each
// machine. What the gate evaluates is what the executor builds. It reads no database but the settings.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/module_variables.hpp"

namespace dash::jobs {

inline constexpr std::int64_t kMaxCount = 20;  // machines of one deploy, as in the deployed dashboards

struct ResolvedItem {
  std::string name;
  std::string region;  // folded
  Json request;        // what the gate evaluates: as typed where the caller typed it
  Json parameters;     // for an executor: the members that are no fields of the request; for a module: what
                       // is sealed of its variables
  std::optional<std::string> resource_id{};  // of a teardown, where known
  Json post_deploy{};                        // of a deploy: the body's, not yet resolved
};

struct ResolvedDeploy {
  std::vector<ResolvedItem> items;
  std::optional<std::string> workgroup;
  bool is_batch = false;  // several machines in one request: none of them can wait for an approval
};

// Returns the stored text of a setting, empty when absent.
using ReadSetting = std::function<Result<std::string>(const std::string& key)>;

// What a deploy is resolved with.
struct ResolveContext {
  const Principal& principal;
  ReadSetting setting;
  std::optional<DeclaredVariables> declared{};  // of the module that runs it (ModuleCatalog)
};

// Code::validation for a wrong type, a missing name or image, two spellings that disagree, a member that
// neither this API nor the module knows; Code::invalid for a malformed region. A missing workgroup becomes that
// of the principal (identity::default_workgroup).
Result<ResolvedDeploy> resolve_deploy(const Action& action, const Json& body, const ResolveContext& context);
// Resolves a bulk deploy: `items` has 1 to kMaxCount objects. Each item is the body without `items`, overlaid
// with its own members.
Result<ResolvedDeploy> resolve_bulk_deploy(const Action& action, const Json& body,
                                           const ResolveContext& context);

}  // namespace dash::jobs
