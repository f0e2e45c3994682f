#include "core/policy/rule_folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/policy/rule_set.hpp"

namespace dash::policy {

Result<std::string> rule_folder(const std::string& named, const std::string& data_dir) {
  if (!named.empty()) return named;
  if (auto folder = environment_variable("ADMISSION_POLICY_DIR"); !folder.empty()) return folder;
  auto own = data_dir + "/policy";
  std::error_code ec;
  if (std::filesystem::exists(std::filesystem::symlink_status(own, ec))) return own;
  TRY(make_folder(own, 0700));
  for (const auto& file : builtin_files(/*with_tests=*/true))
    TRY(write_file(own + "/" + std::string(base_name(file.path)), file.text, 0644));
  return own;
}

}  // namespace dash::policy
