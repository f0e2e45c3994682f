// What the policy commands ask about: a folder of rules with settings given by --set, or an instance; and the
// request that they judge. Everything ends in the same core functions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cmd/cli/instance.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"

namespace dash::cmd {

struct SourceFlags {
  std::string policy_dir;
  std::vector<std::string> set;
  InstanceFlags instance;
};
void declare_source(Flags& flags, SourceFlags& into);

// Rules and settings to judge by. With --target only `opened.api` is there.
struct Source {
  OpenInstance instance;                  // empty with --policy-dir
  std::unique_ptr<policy::Engine> owned;  // with --policy-dir
  policy::Engine* engine = nullptr;
  policy::EngineOptions options;  // of that engine
  policy::GateSettings settings;
  bool is_instance = false;  // an action may be un-gated there
};
// Code::usage for a --set that is no KEY=VALUE, or one together with --target.
Result<Source> open_source(Context& context, const SourceFlags& flags);
// A folder alone, as `diff` names two.
Result<policy::EngineOptions> engine_for(const std::string& folder);
// --set KEY=VALUE over `values`, in either spelling.
Result<config::Values> with_settings(config::Values values, const std::vector<std::string>& set);

struct QueryFlags {
  std::string action, input, at, user;
  bool is_admin = false;
};
void declare_query(Flags& flags, QueryFlags& into);

struct PolicyQuery {
  std::string action;
  Json request = Json::object();
  policy::Actor actor;
  Time at;
  std::optional<policy::Limits> limits;  // of a whole input document
};
// --input holds a request, or a whole input document (it has a member "request"). Flags win over it.
Result<PolicyQuery> read_query(const QueryFlags& flags);

}  // namespace dash::cmd
