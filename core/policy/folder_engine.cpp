#include "core/policy/folder_engine.hpp"

namespace dash::policy {

Result<EngineOptions> folder_engine_options(const std::string& folder) {
  EngineOptions out;
  out.directory = folder;
  out.binary = engine_binary();
  out.build_timeout = TRY(engine_build_timeout());
  return out;
}

}  // namespace dash::policy
