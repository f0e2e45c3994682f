// The setting that names the backend of assets and of infrastructure state.
#pragma once
#include <string>

namespace dash::config {

inline const std::string kActiveBackendKey = "storage_active_backend";

}  // namespace dash::config
