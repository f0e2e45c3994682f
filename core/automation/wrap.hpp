// The playbook that runs an asset which is none itself. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::automation {

// Names of files in a run's work folder.
inline constexpr std::string_view kPlaybookFile = "playbook.yml";

struct WrapResult {
  std::string playbook;       // YAML; empty for an asset that is a playbook and runs as it is
  std::string asset_file;     // the asset's name in the work folder
  bool becomes = false;       // installs with another user's rights
  bool shows_output = false;  // what the asset prints is what the job's log is for
};

// `type` is that of asset_type(): playbook, script, powershell, rpm or deb.
WrapResult wrap(std::string_view type, std::string_view asset);
// The playbook that copies a compose file and starts its project. `project` has passed check_project().
WrapResult wrap_compose(std::string_view asset, std::string_view project);
// A name that docker compose takes: lower-case letters, digits, '-' and '_', a letter or digit first.
// Code::invalid.
Result<void> check_project(std::string_view project);

// The text with every character that a template, a shell or YAML could take for its own as '_'.
std::string plain_name(std::string_view text);

}  // namespace dash::automation
