// What callers may set of the modules in the executors' folder, for jobs::submit(). Thread-safe.
#pragma once
#include <sys/types.h>

#include <string>

#include "core/jobs/executor.hpp"
#include "core/jobs/module_variables.hpp"

namespace dash::deploy {

class ModuleCatalog final : public jobs::ModuleCatalog {
 public:
  // `folder` is the executors' (jobs::executor_folder); `user` runs this server.
  ModuleCatalog(std::string folder, uid_t user);

  // The folder is read at each call, so that a module counts as it is now. A module that is not run (`doctor`
  // says why) declares nothing: its deploys stay pending.
  Result<std::optional<jobs::DeclaredVariables>> declared(const std::string& action) const override;

 private:
  std::string folder_;
  uid_t user_;
  jobs::Executors executors_;
};

}  // namespace dash::deploy
