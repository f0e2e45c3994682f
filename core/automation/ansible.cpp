#include "core/automation/ansible.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/base/lines.hpp"
#include "core/base/text.hpp"
#include "core/net/process/child.hpp"
#include "core/net/process/find_program.hpp"

namespace dash::automation {
namespace {

constexpr std::string_view kProgram = "ansible-playbook";
constexpr auto kProbeTimeout = std::chrono::seconds(60);
constexpr std::size_t kMaxProbeOutput = 1u << 16;
// Where scripts/setup makes its virtual environment: root's own folder is closed to other users.
constexpr std::string_view kSystemProgram = "/usr/local/lib/dashctl/ansible/bin/ansible-playbook";
constexpr std::string_view kPrefixes = "import sys; print(sys.prefix); print(sys.base_prefix)";

std::string user_program() {
  auto cache = environment_variable("XDG_CACHE_HOME");
  return (cache.empty() ? home_folder() + "/.cache" : cache) + "/dashctl/ansible/bin/ansible-playbook";
}

// Returns what stands between `before` and the next of `end` after it.
std::string between(std::string_view text, std::string_view before, std::string_view end) {
  auto begin = text.find(before);
  if (begin == text.npos) return "";
  begin += before.size();
  return std::string(trim(text.substr(begin, text.find_first_of(end, begin) - begin)));
}

// Ansible makes a folder in its home even to tell its version, and the user of a service may have none to write.
class ProbeHome {
 public:
  static Result<ProbeHome> make() {
    std::error_code error;
    auto name = (std::filesystem::temp_directory_path(error) / "dashctl-ansible-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      return fail(Code::conflict, "ansible cannot be asked for its version: no folder can be made in {}",
                  name);
    return ProbeHome(std::move(name));
  }
  ProbeHome(ProbeHome&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~ProbeHome() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ProbeHome(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<std::string> output_of(std::vector<std::string> argv) {
  auto home = TRY(ProbeHome::make());
  std::vector<std::string> environment{"PATH=" + net::search_path(), "HOME=" + home_folder(), "LANG=C.UTF-8",
                                       "ANSIBLE_NOCOLOR=1", "ANSIBLE_HOME=" + home.path()};
  auto ran =
      TRY(net::run_child({std::move(argv), std::move(environment), "/"}, "", kProbeTimeout, kMaxProbeOutput));
  if (ran.exit.ok()) return ran.out;
  return fail(Code::conflict, "ansible does not start here ({}): {}", ran.exit.text(),
              trim(std::string_view(ran.err).substr(0, 300)));
}

// Links are followed, because a rule for a path is one for what it names.
Result<AnsibleProgram> run_probe(const std::string& path) {
  auto report = TRY(output_of({path, "--version"}));
  AnsibleProgram out{path, between(report, "[core ", "]\n"), {}};
  auto modules = between(report, "ansible python module location = ", "\n");
  auto python = between(report, "python version = ", "\n");
  python = python.substr(std::min(python.size(), python.rfind('(') + 1));
  if (python.ends_with(')')) python.pop_back();
  if (out.version.empty() || modules.empty() || !python.starts_with('/'))
    return fail(Code::conflict, "{} is no ansible-playbook: its --version reads otherwise", path);
  std::set<std::string> folders;
  std::error_code ignored;
  auto prefixes = TRY(output_of({python, "-c", std::string(kPrefixes)}));
  for (auto line : lines_of(prefixes))
    if (auto prefix = trim(line); !prefix.empty())
      folders.insert(std::filesystem::weakly_canonical(prefix, ignored));
  std::filesystem::path package(modules);
  folders.insert(std::filesystem::weakly_canonical(package.parent_path(), ignored));
  folders.insert(std::filesystem::weakly_canonical(path, ignored).parent_path());
  // A link in the way to the interpreter (an environment's bin/python3) is followed inside of these.
  folders.insert(std::filesystem::path(python).parent_path());
  for (const auto& folder : folders)
    if (folder.size() > 1) out.folders.push_back(folder);
  return out;
}

struct CachedProbe {
  std::string path;
  std::int64_t changed_at = 0;
  AnsibleProgram program;
};

}  // namespace

Result<std::string> find_ansible() {
  if (auto named = environment_variable("AUTOMATION_ANSIBLE"); !named.empty()) {
    auto found = net::find_program(named);
    if (found) return std::string(std::filesystem::absolute(*found));
    return fail(Code::conflict, "AUTOMATION_ANSIBLE names '{}', which is no program", named);
  }
  if (auto found = net::find_program(std::string(kProgram))) return *found;
  for (const auto& path : {std::string(kSystemProgram), user_program()})
    if (net::find_program(path)) return path;
  return fail(Code::conflict,
              "ansible-playbook is not installed where this server runs: run scripts/setup automation, put "
              "ansible-core 2.18 or 2.19 on its PATH, or name ansible-playbook in AUTOMATION_ANSIBLE");
}

Result<AnsibleProgram> probe_ansible(const std::string& path) {
  static std::mutex mutex;
  static CachedProbe kept;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail(Code::conflict, "{} has gone", path);
  auto changed_at = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec;
  std::lock_guard lock(mutex);
  if (kept.path == path && kept.changed_at == changed_at) return kept.program;
  auto program = TRY(run_probe(path));
  kept = {path, changed_at, program};
  return program;
}

}  // namespace dash::automation
