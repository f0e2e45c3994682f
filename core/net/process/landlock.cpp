#include "core/net/process/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/net/process/truncate_filter.hpp"

namespace dash::net {
namespace {

// include/uapi/linux/landlock.h of newer kernels than Debian 12's header: ABI 3, 4 and 6.
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kBindTcp = 1ULL << 0, kConnectTcp = 1ULL << 1;
constexpr std::uint64_t kScopeAbstractSocket = 1ULL << 0, kScopeSignal = 1ULL << 1;
struct RulesetAttr {
  std::uint64_t fs = 0, net = 0, scoped = 0;
};

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadTree = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kRun = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kDevice = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr std::uint64_t kFirstAbi = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

std::uint64_t handled_fs(int abi) {
  auto out = kFirstAbi;
  if (abi >= 2) out |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= kTruncateAbi) out |= kTruncate;
  return out;
}

bool is_folder(const std::string& path) {
  int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

// A file gets only the rights that a file can have.
bool allow_path(int ruleset, const std::string& path, std::uint64_t access, bool tree) {
  int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = tree ? access : access & (kRun | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate);
  rule.parent_fd = fd;
  bool ok = ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(fd);
  return ok;
}

bool allow_paths(int ruleset, const std::vector<std::string>& paths, std::uint64_t access) {
  return std::ranges::all_of(
      paths, [&](const auto& path) { return allow_path(ruleset, path, access, is_folder(path)); });
}

bool add_rules(int ruleset, const LandlockRules& rules, std::uint64_t all) {
  // What the dynamic linker needs; no file of ours is there.
  static const std::vector<std::string> kPrograms{"/usr", "/lib", "/lib64", "/bin"};
  static const std::vector<std::string> kFiles{"/etc/ld.so.cache", "/dev/null", "/dev/urandom"};
  return allow_paths(ruleset, kPrograms, kRun | kReadTree) && allow_paths(ruleset, kFiles, kReadFile) &&
         allow_paths(ruleset, rules.read, kReadTree) && allow_paths(ruleset, rules.run, kRun | kReadTree) &&
         allow_paths(ruleset, rules.write, all & ~LANDLOCK_ACCESS_FS_EXECUTE) &&
         allow_paths(ruleset, rules.work, all) &&
         allow_paths(ruleset, rules.devices, kDevice | LANDLOCK_ACCESS_FS_READ_DIR | (all & kTruncate));
}

}  // namespace

int landlock_abi() {
  auto abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 1 ? 0 : static_cast<int>(abi);
}

bool has_seccomp() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 || errno != EINVAL; }

bool apply_landlock(const LandlockRules& rules, int abi) {
  abi = std::min(abi, landlock_abi());
  if (abi < 1) return true;
  RulesetAttr attr{handled_fs(abi), abi >= 4 && !rules.allows_tcp ? kBindTcp | kConnectTcp : 0,
                   abi >= 6 ? kScopeAbstractSocket | kScopeSignal : 0};
  std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, size, 0));
  if (ruleset < 0) return false;
  bool ok = add_rules(ruleset, rules, attr.fs) && ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return ok && (abi >= kTruncateAbi || !rules.filters_truncate || refuse_truncate());
}

}  // namespace dash::net
