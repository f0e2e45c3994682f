#include "core/deploy/module.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/base/trusted_path.hpp"
#include "core/base/utf8.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"

namespace dash::deploy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 100'000;  // files and folders of a tree

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// What a run leaves behind in a folder in which somebody tried the module by hand.
bool is_of_a_run(const fs::path& path) { return path.filename() == ".terraform"; }

bool is_state_file(std::string_view name) {
  return name.ends_with(".tfstate") || name.find(".tfstate.") != name.npos;
}

// Code::forbidden for a link that leads out of `root`, which has no links.
Result<void> check_link(const fs::path& link, const fs::path& root) {
  std::error_code error;
  auto target = fs::canonical(link, error);
  if (error) return fail(Code::invalid, "{} leads nowhere: remove it", link.string());
  auto inside = target.lexically_relative(root);
  if (!inside.empty() && *inside.begin() != "..") return {};
  return fail(Code::forbidden, "{} is a link that leads out of {}: put a copy in its place", link.string(),
              root.string());
}

using OnFile = std::function<Result<void>(const std::string& path, const std::string& name)>;

// Calls `on_file` with each file, after it was checked, and its name beneath the folder. Links to folders are
// not entered.
Result<void> walk_trusted(const std::string& root, uid_t user, const OnFile& on_file) {
  std::error_code error;
  auto canonical = fs::canonical(root, error);
  if (error) return fail(Code::upstream, "{} cannot be read: {}", root, error.message());
  TRY(check_trusted_folder(root, user));
  std::size_t count = 0;
  auto entries = fs::recursive_directory_iterator(canonical, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const auto& path = entries->path();
    if (++count > kMaxEntries) return fail(Code::too_large, "{} holds more than {} files", root, kMaxEntries);
    if (is_of_a_run(path)) {
      entries.disable_recursion_pending();
      continue;
    }
    if (entries->is_symlink()) TRY(check_link(path, canonical));
    if (entries->is_directory()) {
      TRY(check_trusted_folder(path, user));
    } else {
      TRY(check_trusted_file(path, user));
      TRY(on_file(path, path.lexically_relative(canonical)));
    }
  }
  if (error) return fail(Code::upstream, "{} cannot be read: {}", root, error.message());
  return {};
}

// The folder itself must lie where it is named: a link out of the executors' folder is no module.
Result<void> check_place(const std::string& folder, const std::string& executor_folder) {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) return {};
  return check_link(folder, fs::canonical(executor_folder, error));
}

bool is_top_level(std::string_view name) { return name.find('/') == name.npos; }

Result<Variables> variables_of(const ModuleFile& file) {
  if (!is_top_level(file.path)) return Variables();
  if (file.path.ends_with(".tf")) return hcl_variables(file.bytes);
  if (file.path.ends_with(".tf.json")) return json_variables(file.bytes);
  return Variables();
}

Result<void> read_variables(ModuleFolder& module) {
  for (const auto& file : module.files)
    merge_variables(module.variables, TRY(within(module.path + "/" + file.path, variables_of(file))));
  for (auto name : kRequiredVariables)
    if (!module.variables.contains(std::string(name)))
      return fail(Code::invalid,
                  "the module {0} does not declare the variable {1}, so what it builds would not be what was "
                  "judged: add variable \"{1}\" {{}} to it and use it",
                  module.path, name);
  return {};
}

Result<ModuleFolder> read_files(const std::string& folder, uid_t user) {
  ModuleFolder module{folder, {}, {}};
  std::size_t bytes = 0;
  TRY(walk_trusted(folder, user, [&](const std::string& path, const std::string& name) -> Result<void> {
    if (is_state_file(name))
      return fail(Code::invalid,
                  "the module {} holds the state {}; states are kept on the active backend: move it away",
                  folder, name);
    if (!is_utf8(name)) return fail(Code::invalid, "the module {} holds a name that is not UTF-8", folder);
    auto text = read_file(path, kMaxModuleBytes);
    if (text) bytes += text->size();
    if ((!text && text.error().code == Code::too_large) || bytes > kMaxModuleBytes)
      return fail(Code::too_large, "the module {} has more than {} bytes: keep only what it needs", folder,
                  kMaxModuleBytes);
    bool is_executable = ::access(path.c_str(), X_OK) == 0;
    auto bytes_of_file = TRY(std::move(text));
    module.files.push_back({name, std::move(bytes_of_file), is_executable});
    return {};
  }));
  std::ranges::sort(module.files, {}, &ModuleFile::path);
  return module;
}

bool is_program_file(const ModuleFile& file) {
  return is_top_level(file.path) && (file.path.ends_with(".tf") || file.path.ends_with(".tf.json"));
}

// A name that stays beneath its folder.
bool is_safe_path(std::string_view path) {
  auto normal = fs::path(path).lexically_normal();
  return !path.empty() && path.front() != '/' && normal == fs::path(path) && *normal.begin() != "..";
}

}  // namespace

Result<void> check_trusted_tree(const std::string& path, uid_t user) {
  return walk_trusted(path, user, [](const std::string&, const std::string&) { return Result<void>(); });
}

Result<std::optional<ModuleFolder>> read_module(const std::string& executor_folder, const std::string& action,
                                                uid_t user) {
  for (auto name : {action, config::provider_action(action)}) {
    std::ranges::replace(name, ':', '-');
    auto folder = executor_folder + "/" + name;
    if (!is_folder(folder)) continue;
    TRY(check_place(folder, executor_folder));
    auto module = TRY(read_files(folder, user));
    if (std::ranges::none_of(module.files, is_program_file)) continue;
    TRY(read_variables(module));
    return module;
  }
  return std::nullopt;
}

std::string pack_module(const ModuleFolder& module) {
  auto files = Json::array();
  for (const auto& file : module.files)
    files.push_back(
        {{"path", file.path}, {"executable", file.is_executable}, {"bytes", crypto::to_base64(file.bytes)}});
  return dump_json(Json{{"files", std::move(files)}});
}

Result<ModuleFolder> unpack_module(std::string_view text) {
  auto json = TRY(parse_json(text));
  ModuleFolder module;
  for (const auto& file : json.value("files", Json::array())) {
    auto path = string_member(file, "path").value_or("");
    auto bytes = crypto::from_base64(string_member(file, "bytes").value_or("?"));
    if (!is_safe_path(path) || !bytes) return fail(Code::integrity, "the module that was kept is damaged");
    module.files.push_back({path, *std::move(bytes), file.value("executable", false)});
    merge_variables(module.variables, TRY(within(path, variables_of(module.files.back()))));
  }
  return module;
}

Result<void> write_module(const ModuleFolder& module, const std::string& folder) {
  for (const auto& file : module.files) {
    auto path = fs::path(folder) / file.path;
    TRY(make_folder(path.parent_path(), 0700));
    TRY(write_file(path, file.bytes, file.is_executable ? 0700 : 0600));
  }
  return {};
}

}  // namespace dash::deploy
