#include "core/config/vault_reference.hpp"

#include "core/base/text.hpp"

namespace dash::config {

std::string vault_scheme(std::string_view value) {
  value = trim(value);
  for (auto scheme : kVaultSchemes)
    if (value.starts_with(scheme) && value.substr(scheme.size()).starts_with("://"))
      return std::string(scheme);
  return "";
}

std::string vault_id_of(std::string_view value) {
  auto scheme = vault_scheme(value);
  if (scheme.empty()) return "";
  auto rest = trim(value).substr(scheme.size() + 3);
  auto slash = rest.find('/');
  return slash == rest.npos ? "" : std::string(rest.substr(0, slash));
}

}  // namespace dash::config
