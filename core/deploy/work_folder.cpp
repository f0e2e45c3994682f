#include "core/deploy/work_folder.hpp"

#include <signal.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/net/process/find_program.hpp"
#include "core/storage/settings/state_place.hpp"

namespace dash::deploy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSmallFile = 1u << 20;
constexpr std::string_view kDependencyLock = ".terraform.lock.hcl";
// Sorts behind the module's own overrides.
constexpr std::string_view kBackendFile = "zzzz_dashctl_override.tf";
constexpr std::string_view kBackend = "terraform {\n  backend \"http\" {}\n}\n";

std::string json_text(std::string_view text) { return dump_json(Json(text)); }

// Returns host/namespace/type of each provider of the mirror.
std::vector<std::string> providers_in(const std::string& mirror) {
  std::vector<std::string> out;
  std::error_code error;
  auto entries = fs::recursive_directory_iterator(mirror, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (!entries->is_directory() || entries.depth() != 2) continue;
    entries.disable_recursion_pending();
    out.push_back(entries->path().lexically_relative(mirror).string());
  }
  return out;
}

}  // namespace

// The program would take a newer version from the registry, and fail without a network: what the mirror has is
// excluded from the direct installation.
Result<std::string> program_settings(const std::string& mirror) {
  std::string text = "disable_checkpoint = true\n";
  if (mirror.empty()) return text;
  std::string excluded;
  for (const auto& provider : providers_in(mirror))
    excluded += (excluded.empty() ? "" : ", ") + json_text(provider);
  return text + fmt::format(
                    "provider_installation {{\n  filesystem_mirror {{\n    path = {}\n  }}\n"
                    "  direct {{\n    exclude = [{}]\n  }}\n}}\n",
                    json_text(mirror), excluded);
}

WorkFolder::WorkFolder(const std::string& root, const std::string& job_id) : path_(root + "/" + job_id) {}

Result<void> WorkFolder::create(const std::string& state_job, const WorkContents& contents) {
  if (fs::exists(path_)) return fail(Code::conflict, "{} is there already", path_);
  TRY(make_folder(path_, 0700));
  for (const auto& folder : {program_folder(), home(), path_ + "/tmp"}) TRY(make_folder(folder, 0700));
  TRY(write_module(contents.module, program_folder()));
  auto in_module = program_folder() + "/";
  TRY(write_file(in_module + std::string(kBackendFile), kBackend, 0600));
  if (!contents.dependency_lock.empty())
    TRY(write_file(in_module + std::string(kDependencyLock), contents.dependency_lock, 0600));
  TRY(write_file(values_file(), dump_json(contents.values), 0600));
  TRY(write_file(path_ + "/settings.tfrc", TRY(program_settings(contents.providers)), 0600));
  return write_file(path_ + "/state_job", state_job, 0600);
}

Result<void> WorkFolder::write_credentials(const Credentials& credentials) {
  for (const auto& file : credentials.files) {
    auto path = fs::path(home()) / file.path;
    TRY(make_folder(path.parent_path(), 0700));
    TRY(write_file(path, file.text, 0600));
  }
  return {};
}

Result<void> WorkFolder::remove() const {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) return fail(Code::upstream, "{} cannot be removed: {}", path_, error.message());
  return {};
}

std::vector<std::string> WorkFolder::environment() const {
  return {"PATH=" + net::search_path(),
          "HOME=" + home(),
          "TMPDIR=" + path_ + "/tmp",
          "LANG=C.UTF-8",
          "TF_CLI_CONFIG_FILE=" + path_ + "/settings.tfrc",
          "TF_IN_AUTOMATION=1",
          "TF_INPUT=0",
          "CHECKPOINT_DISABLE=1"};
}

std::string WorkFolder::state_job() const {
  auto text = read_file(path_ + "/state_job", kMaxSmallFile);
  return text ? *text : std::string();
}

Result<void> WorkFolder::note_program(int pid) const {
  std::error_code error;
  fs::remove(end_file(), error);
  return write_file(path_ + "/pid", std::to_string(pid), 0600);
}

// A number may belong to another process by now, so its command line is read too.
ProgramEnd WorkFolder::program_end() const {
  if (auto ended = read_file(end_file(), kMaxSmallFile))
    return ended->starts_with("exit") ? ProgramEnd::in_order : ProgramEnd::unknown;
  auto text = read_file(path_ + "/pid", kMaxSmallFile);
  if (!text) return ProgramEnd::in_order;  // none was started
  int pid = 0;
  std::from_chars(text->data(), text->data() + text->size(), pid);
  auto command = read_file(fmt::format("/proc/{}/cmdline", pid), kMaxSmallFile);
  bool runs = command && command->find(end_file()) != std::string::npos;
  return runs ? ProgramEnd::runs : ProgramEnd::unknown;
}

Result<std::optional<std::string>> WorkFolder::errored_state() const {
  auto text = read_file(program_folder() + "/errored.tfstate", storage::kMaxStateBytes);
  if (!text && text.error().code == Code::not_found) return std::nullopt;
  return TRY(std::move(text));
}

Result<std::string> WorkFolder::dependency_lock() const {
  auto text = read_file(program_folder() + "/" + std::string(kDependencyLock), kMaxSmallFile);
  if (!text && text.error().code == Code::not_found) return std::string();
  return text;
}

}  // namespace dash::deploy
