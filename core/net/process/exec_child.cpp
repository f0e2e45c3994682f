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

// The kernel's overflow id: nobody and nogroup on every distribution that has them.
constexpr int kNobody = 65534;
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

int print_errno(std::string_view what) {
  auto line = fmt::format("exec-child: {}: {}\n", what, ::strerrordesc_np(errno));
  (void)!::write(2, line.data(), line.size());
  return kCannotExec;
}

// A path that does not exist needs no permission. A file gets only the rights that a file can have.
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

bool is_folder(const std::string& path) {
  int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

bool apply_landlock(const Sandbox& sandbox, const std::string& program) {
  long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return true;  // the kernel has none
  RulesetAttr attr{handled_fs(abi), abi >= 4 ? kBindTcp | kConnectTcp : 0,
                   abi >= 6 ? kScopeAbstractSocket | kScopeSignal : 0};
  std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, size, 0));
  if (ruleset < 0) return false;
  bool ok = allow_path(ruleset, program, kRun, false);
  // What the dynamic linker needs; no file of ours is there.
  for (auto* folder : {"/usr", "/lib", "/lib64", "/bin"})
    ok = ok && allow_path(ruleset, folder, kRun | kReadTree, true);
  for (auto* file : {"/etc/ld.so.cache", "/dev/null", "/dev/urandom"})
    ok = ok && allow_path(ruleset, file, kReadFile, false);
  for (const auto& path : sandbox.read) ok = ok && allow_path(ruleset, path, kReadTree, is_folder(path));
  for (const auto& path : sandbox.write)
    ok = ok && allow_path(ruleset, path, attr.fs & ~LANDLOCK_ACCESS_FS_EXECUTE, true);
  ok = ok && ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return ok;
}

bool drop_privileges() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// Called after the change of user, which clears the setting. If the parent died before, this process has
// another parent.
bool die_with_parent(int parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

struct ExecRequest {
  Sandbox sandbox{{}, {}, false, false};
  int parent = 0;
  std::vector<std::string> argv;
};

bool read_option(ExecRequest& request, std::string_view word, const std::string& value) {
  if (word == "--parent")
    std::from_chars(value.data(), value.data() + value.size(), request.parent);
  else if (word == "--read")
    request.sandbox.read.push_back(value);
  else if (word == "--write")
    request.sandbox.write.push_back(value);
  else
    return false;
  return true;
}

std::optional<ExecRequest> parse(const std::vector<std::string>& args) {
  ExecRequest request;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& word = args[i];
    if (word == "--") {
      request.argv.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (word == "--unprivileged") {
      request.sandbox.unprivileged = true;
    } else if (word == "--landlock") {
      request.sandbox.landlock = true;
    } else if (i + 1 == args.size() || !read_option(request, word, args[++i])) {
      return std::nullopt;
    }
  }
  return request.argv.empty() || request.parent <= 0 ? std::nullopt : std::optional(std::move(request));
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
  auto request = parse(args);
  if (!request) {
    errno = EINVAL;
    return print_errno("usage");
  }
  // Opened before the user changes: the program may be in a folder that only the current user can enter.
  int program = ::open(request->argv[0].c_str(), O_PATH | O_CLOEXEC);
  if (program < 0) return print_errno(request->argv[0]);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return print_errno("no new privileges");
  if (request->sandbox.landlock && !apply_landlock(request->sandbox, request->argv[0]))
    return print_errno("landlock");
  if (request->sandbox.unprivileged && !drop_privileges()) return print_errno("change of user");
  if (!die_with_parent(request->parent)) return print_errno("the parent is gone");
  std::vector<char*> argv;
  for (auto& word : request->argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execveat(program, "", argv.data(), environ, AT_EMPTY_PATH);
  // A script needs its path: the interpreter opens it.
  ::execv(request->argv[0].c_str(), argv.data());
  return print_errno(request->argv[0]);
}

}  // namespace dash::net
