// Members of a deploy body that become variables of the module which the deploy runs. A module takes only what
// it declares. The values stand in the evaluated request, so rules and approvals cover them; those of a
// variable that the module declares as sensitive are sealed, and the request holds the mask for them.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::jobs {

inline constexpr std::size_t kMaxVariables = 64;              // of one deploy
inline constexpr std::size_t kMaxVariableBytes = 16 * 1024;   // of one value, as JSON text
inline constexpr std::size_t kMaxVariablesBytes = 64 * 1024;  // of all values
inline constexpr std::size_t kMaxVariableNameBytes = 128;

struct DeclaredVariable {
  bool is_sensitive = false;
  bool is_required = false;  // it has no default
};
// By name: what a caller may set. Not what the request gives anyway (region, name, …).
using DeclaredVariables = std::map<std::string, DeclaredVariable>;

// The modules of this instance. Thread-safe.
class ModuleCatalog {
 public:
  virtual ~ModuleCatalog() = default;
  // Returns the variables of the module that runs a deploy action. nullopt where an operator's executable
  // does, or nothing: then the other members of a body are parameters of the job.
  virtual Result<std::optional<DeclaredVariables>> declared(const std::string& action) const = 0;
};

struct ResolvedVariables {
  Json shown;   // name → value, the mask for a sensitive one
  Json sealed;  // name → value of the sensitive ones
};
// Code::validation with the member's name: not declared, no identifier of the configuration language, too
// large, or missing though the module has no default for it. Null is an absent value.
Result<ResolvedVariables> resolve_variables(const DeclaredVariables& declared, const Json& members);

// Returns the parameters of a job that has these sealed values.
Json variable_parameters(const ResolvedVariables& variables);
// Returns the values with which a job runs: those of its request, with the sealed ones in clear.
Json variables_of_job(const Json& request, const Json& parameters);

}  // namespace dash::jobs
