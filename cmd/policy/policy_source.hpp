// The input of the policy commands: a folder of rules with settings given by --set, or an instance; and the
// request to evaluate. All of them end in the same core functions.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/instance.hpp"

namespace dash::cmd {

struct SourceFlags {
  std::string policy_dir;
  std::vector<std::string> set;
  InstanceFlags instance;
};
void declare_source(Flags& flags, SourceFlags& into);
// Without --target: for what needs the files themselves.
void declare_local_source(Flags& flags, SourceFlags& into);

// The rules and settings of an instance or of a folder.
class PolicySource {
 public:
  explicit PolicySource(OpenInstance instance) : instance_(std::move(instance)) {}
  explicit PolicySource(std::unique_ptr<client::PolicyClient> folder) : folder_(std::move(folder)) {}
  client::PolicyClient& client() const { return folder_ ? *folder_ : *(*instance_)->policy; }

 private:
  std::optional<OpenInstance> instance_;
  std::unique_ptr<client::PolicyClient> folder_;
};
// Code::usage for a --set that is no KEY=VALUE, or one together with --target.
Result<PolicySource> open_source(Context& context, const SourceFlags& flags);
// Parses --set KEY=VALUE, in either spelling. Code::usage for a key that the gate does not read.
Result<config::Values> read_settings(const std::vector<std::string>& set);

struct QueryFlags {
  std::string action, input, at, user;
  bool is_admin = false;
};
void declare_query(Flags& flags, QueryFlags& into);

// Reads --input, which has a request, or a whole input document (with a member "request"). Flags have
// priority.
Result<client::PolicyQuery> read_query(const QueryFlags& flags);

}  // namespace dash::cmd
