// What a deploy's program gets of a cloud's panel: files of mode 0600 where the provider reads one, else
// variables of that child's environment alone.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/config/settings_snapshot.hpp"

namespace dash::deploy {

struct CredentialFile {
  std::string path;  // beneath the child's home
  std::string text;
};

struct Credentials {
  std::vector<CredentialFile> files;
  std::vector<std::string> environment;  // NAME=value
  std::vector<std::string> secrets;      // texts that no log may show
};

// Returns those of a cloud (canonical). Nothing for a panel that is not filled in. `home` is the child's home
// folder, absolute.
Credentials cloud_credentials(std::string_view cloud, const config::Values& values, const std::string& home);

}  // namespace dash::deploy
