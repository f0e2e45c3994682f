#include "core/app/doctor_files.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "core/app/keys.hpp"
#include "core/deploy/module.hpp"
#include "core/deploy/program.hpp"
#include "core/jobs/actions.hpp"
#include "core/jobs/executor.hpp"

namespace dash::app {
namespace {

constexpr std::uint64_t kLowSpaceBytes = 256ull << 20, kMinSpaceBytes = 8ull << 20;

// The server's user owns the data folder; doctor may be run by root.
uid_t owner_of(const std::string& data_dir) {
  struct stat status {};
  return ::stat(data_dir.c_str(), &status) == 0 ? status.st_uid : ::geteuid();
}

bool is_open_to_others(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0;
}

std::uint64_t free_bytes(const std::string& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) return ~0ull;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace

CheckResult good(std::string name, std::string message) {
  return {std::move(name), CheckState::good, std::move(message), Code::invalid};
}
CheckResult warning(std::string name, std::string message) {
  return {std::move(name), CheckState::warning, std::move(message), Code::invalid};
}
CheckResult failed(std::string name, Code code, std::string message) {
  return {std::move(name), CheckState::failed, std::move(message), code};
}

std::string no_instance_message(const std::string& folder) {
  return fmt::format(
      "there is no instance in {}; `dashctl user add NAME --admin` or `dashctl serve` makes one", folder);
}

CheckResult check_data_dir(const std::string& folder) {
  constexpr auto kName = "data_dir";
  std::error_code ec;
  if (!std::filesystem::is_directory(folder, ec))
    return failed(kName, Code::not_found, no_instance_message(folder));
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
    return failed(kName, Code::forbidden, fmt::format("{} cannot be written by this user", folder));
  auto space = free_bytes(folder);
  if (space < kMinSpaceBytes)
    return failed(kName, Code::invalid, fmt::format("the disk of {} is full: make room", folder));
  if (is_open_to_others(folder))
    return warning(kName, fmt::format("others may enter {0}; type `chmod 700 {0}`", folder));
  if (space < kLowSpaceBytes)
    return warning(kName, fmt::format("only {} MiB are left on the disk of {}", space >> 20, folder));
  return good(kName, folder);
}

CheckResult check_key_file(std::string name, const std::string& path) {
  if (path.empty()) return good(std::move(name), "not set");
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    return failed(
        std::move(name), Code::not_found,
        fmt::format("{} is missing: put it back, for a new one cannot read what this one wrote", path));
  if (auto key = read_key(path); !key) return failed(std::move(name), key.error().code, key.error().message);
  if (is_open_to_others(path))
    return failed(std::move(name), Code::forbidden,
                  fmt::format("others may read {0}; type `chmod 600 {0}`", path));
  return good(std::move(name), path);
}

CheckResult check_database_file(const std::string& path) {
  constexpr auto kName = "database_file";
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    return failed(kName, Code::not_found, fmt::format("{} is missing: restore it from a backup", path));
  if (is_open_to_others(path))
    return failed(kName, Code::forbidden, fmt::format("others may read {0}; type `chmod 600 {0}`", path));
  return good(kName, path);
}

CheckResults check_modules(const std::string& data_dir) {
  auto folder = std::filesystem::absolute(jobs::executor_folder(data_dir)).string();
  CheckResults out;
  int modules = 0;
  for (const auto& action : jobs::actions()) {
    if (action.kind == jobs::ActionKind::teardown) continue;
    std::string name(action.name);
    auto module = deploy::read_module(folder, name, owner_of(data_dir));
    modules += module && *module;
    if (module) continue;
    auto code = module.error().code == Code::not_found ? Code::invalid : module.error().code;
    out.push_back(failed("module " + name, code, module.error().message));
  }
  std::error_code ec;
  if (auto mirror = folder + "/providers"; std::filesystem::exists(mirror, ec))
    if (auto safe = deploy::check_trusted_tree(mirror, owner_of(data_dir)); !safe)
      out.push_back(failed("providers", safe.error().code, safe.error().message));
  if (modules == 0) return out;
  auto program = deploy::find_iac_program();
  out.push_back(program ? good("infrastructure_program", *program)
                        : failed("infrastructure_program", Code::invalid, program.error().message));
  out.push_back(good("modules", fmt::format("{} actions have one", modules)));
  return out;
}

CheckResults check_executors(const std::string& data_dir) {
  jobs::Executors executors(jobs::executor_folder(data_dir), "", owner_of(data_dir));
  CheckResults out;
  for (const auto& executor : executors.refused())
    out.push_back(failed(fmt::format("executor {}", std::filesystem::path(executor.path).filename().string()),
                         Code::forbidden, fmt::format("{} is not run: {}", executor.path, executor.reason)));
  if (out.empty())
    out.push_back(good("executors", fmt::format("{} actions have one", executors.available().size())));
  return out;
}

CheckResult check_bundles(const std::string& folder) {
  constexpr auto kName = "bundles";
  std::size_t found = 0;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec))
    found += entry.path().extension() == ".json";
  if (found == 0) return good(kName, "none is left in " + folder);
  return warning(kName,
                 fmt::format("{} files in {} hold live credentials; after the cutover remove them with "
                             "`dashctl migrate shred`",
                             found, folder));
}

}  // namespace dash::app
