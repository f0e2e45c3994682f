// Modules: folders of *.tf files by which this server itself makes what a deploy asks for, where no operator's
// executable does. The folder of an action is named as its executable would be, in either spelling:
// DIR/cloud1-vm-deploy/ or DIR/aws-ec2-deploy/. A module is read whole before it is used, so that what was
// checked, what runs and what is kept are the same bytes.
#pragma once
#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/deploy/hcl.hpp"

namespace dash::deploy {

inline constexpr std::size_t kMaxModuleBytes = 1u << 20;
// What every module declares: what is built is what the gate judged.
inline constexpr std::array<std::string_view, 4> kRequiredVariables{"region", "instance_type", "image",
                                                                    "name"};

struct ModuleFile {
  std::string path;  // beneath the folder
  std::string bytes;
  bool is_executable = false;
};

struct ModuleFolder {
  std::string path;               // absolute; empty for one that was kept
  std::vector<ModuleFile> files;  // by path
  Variables variables;
};

// Reads the module of a deploy or provision action (canonical). nullopt where there is no such folder.
// Code::forbidden when others than root and `user` may write the folder or a file of it, or a link leads out of
// it; Code::invalid for a *.tfstate, for HCL that cannot be read, and for a module without one of the required
// variables; Code::too_large above kMaxModuleBytes. Each message names the file and what to change.
Result<std::optional<ModuleFolder>> read_module(const std::string& executor_folder, const std::string& action,
                                                uid_t user);

// Checks a folder and everything in it as read_module() does, without reading its files.
Result<void> check_trusted_tree(const std::string& path, uid_t user);

// The module as one text, and back. Equal modules have equal texts.
std::string pack_module(const ModuleFolder& module);
// Code::integrity for a text that pack_module() did not make.
Result<ModuleFolder> unpack_module(std::string_view text);
// Writes its files beneath `folder`, which exists and is empty.
Result<void> write_module(const ModuleFolder& module, const std::string& folder);

}  // namespace dash::deploy
