#include "core/net/process/exec_child.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

namespace dash::net {
namespace {

constexpr int kNobody =
    65534;  // the overflow id of the kernel: nobody and nogroup on every distribution that has them
constexpr int kCannotExec = 126;

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
constexpr std::uint64_t kFirstAbi = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

std::uint64_t handled_fs(long abi) {
  auto out = kFirstAbi;
  if (abi >= 2) out |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) out |= kTruncate;
  return out;
}

int complain(std::string_view what) {
  auto line = fmt::format("exec-child: {}: {}\n", what, ::strerrordesc_np(errno));
  (void)!::write(2, line.data(), line.size());
  return kCannotExec;
}

// A path that is not there needs no permission. A file takes only the rights that a file can have.
bool permit(int ruleset, const std::string& path, std::uint64_t access, bool tree) {
  int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = tree ? access : access & (kRun | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate);
  rule.parent_fd = fd;
  bool ok = ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(fd);
  return ok;
}

bool is_folder(const std::string& path) {
  int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

bool confine(const Sandbox& sandbox, const std::string& program) {
  long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return true;  // the kernel has none
  RulesetAttr attr{handled_fs(abi), abi >= 4 ? kBindTcp | kConnectTcp : 0,
                   abi >= 6 ? kScopeAbstractSocket | kScopeSignal : 0};
  std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, size, 0));
  if (ruleset < 0) return false;
  bool ok = permit(ruleset, program, kRun, false);
  // The dynamic linker's world; nothing of ours lies there.
  for (auto* folder : {"/usr", "/lib", "/lib64", "/bin"})
    ok = ok && permit(ruleset, folder, kRun | kReadTree, true);
  for (auto* file : {"/etc/ld.so.cache", "/dev/null", "/dev/urandom"})
    ok = ok && permit(ruleset, file, kReadFile, false);
  for (const auto& path : sandbox.read) ok = ok && permit(ruleset, path, kReadTree, is_folder(path));
  for (const auto& path : sandbox.write)
    ok = ok && permit(ruleset, path, attr.fs & ~LANDLOCK_ACCESS_FS_EXECUTE, true);
  ok = ok && ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return ok;
}

bool become_nobody() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// After the change of user, which clears it. A parent that died before leaves us with another one.
bool die_with_parent(int parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

struct Plan {
  Sandbox sandbox{{}, {}, false, false};
  int parent = 0;
  std::vector<std::string> argv;
};

bool take_value(Plan& plan, std::string_view word, const std::string& value) {
  if (word == "--parent")
    std::from_chars(value.data(), value.data() + value.size(), plan.parent);
  else if (word == "--read")
    plan.sandbox.read.push_back(value);
  else if (word == "--write")
    plan.sandbox.write.push_back(value);
  else
    return false;
  return true;
}

std::optional<Plan> parse(const std::vector<std::string>& args) {
  Plan plan;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& word = args[i];
    if (word == "--") {
      plan.argv.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (word == "--unprivileged") {
      plan.sandbox.unprivileged = true;
    } else if (word == "--landlock") {
      plan.sandbox.landlock = true;
    } else if (i + 1 == args.size() || !take_value(plan, word, args[++i])) {
      return std::nullopt;
    }
  }
  return plan.argv.empty() || plan.parent <= 0 ? std::nullopt : std::optional(std::move(plan));
}

}  // namespace

int unprivileged_uid() { return ::geteuid() == 0 ? kNobody : -1; }
int unprivileged_gid() { return ::geteuid() == 0 ? kNobody : -1; }

Command sandboxed(const Command& command, const Sandbox& sandbox, const std::string& launcher) {
  Command out{
      {launcher, std::string(kExecChild), "--parent", std::to_string(::getpid())}, command.env, command.cwd};
  auto add = [&](std::initializer_list<std::string> words) { out.argv.insert(out.argv.end(), words); };
  if (sandbox.unprivileged) add({"--unprivileged"});
  if (sandbox.landlock) add({"--landlock"});
  for (const auto& path : sandbox.read) add({"--read", path});
  for (const auto& path : sandbox.write) add({"--write", path});
  add({"--"});
  out.argv.insert(out.argv.end(), command.argv.begin(), command.argv.end());
  return out;
}

int exec_child(const std::vector<std::string>& args) {
  auto plan = parse(args);
  if (!plan) {
    errno = EINVAL;
    return complain("usage");
  }
  // Opened before the user changes: the program may lie in a folder that only we may enter.
  int program = ::open(plan->argv[0].c_str(), O_PATH | O_CLOEXEC);
  if (program < 0) return complain(plan->argv[0]);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return complain("no new privileges");
  if (plan->sandbox.landlock && !confine(plan->sandbox, plan->argv[0])) return complain("landlock");
  if (plan->sandbox.unprivileged && !become_nobody()) return complain("change of user");
  if (!die_with_parent(plan->parent)) return complain("the parent is gone");
  std::vector<char*> argv;
  for (auto& word : plan->argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execveat(program, "", argv.data(), environ, AT_EMPTY_PATH);
  // A script needs its path: the interpreter opens it.
  ::execv(plan->argv[0].c_str(), argv.data());
  return complain(plan->argv[0]);
}

}  // namespace dash::net
