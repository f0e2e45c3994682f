#include "core/net/process/exec_child.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <limits>

#include "core/net/process/supervisor.hpp"

namespace dash::net {
namespace {

// The kernel's overflow id: nobody and nogroup on every distribution that has them.
constexpr int kNobody = 65534;
constexpr int kCannotExec = 126;

int print_errno(std::string_view what) {
  auto line = fmt::format("exec-child: {}: {}\n", what, ::strerrordesc_np(errno));
  (void)!::write(2, line.data(), line.size());
  return kCannotExec;
}

bool drop_privileges() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// Programs that root executes regain the capabilities of the bounding set, so that is emptied too.
bool drop_capabilities() {
  if (::geteuid() != 0) return true;
  for (int i = 0; ::prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; ++i)
    if (::prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  return ::syscall(SYS_capset, &header, &none) == 0;
}

// Called after the change of user, which clears the setting. If the parent died before, this process has
// another parent.
bool die_with_parent(int parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

struct ExecRequest {
  Sandbox sandbox{{}, {}, false, false};
  int parent = 0;
  std::vector<std::string> argv;
};

template <class Number>
bool read_number(const std::string& value, Number& into) {
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
  return error == std::errc() && end == value.data() + value.size();
}

std::vector<std::string>* list_of(Sandbox& sandbox, std::string_view word) {
  if (word == "--read") return &sandbox.read;
  if (word == "--write") return &sandbox.write;
  if (word == "--run") return &sandbox.run;
  if (word == "--work") return &sandbox.work;
  if (word == "--device") return &sandbox.devices;
  return nullptr;
}

bool read_option(ExecRequest& request, std::string_view word, const std::string& value) {
  auto& sandbox = request.sandbox;
  if (auto* list = list_of(sandbox, word)) {
    list->push_back(value);
    return true;
  }
  if (word == "--end-file") {
    sandbox.end_file = value;
    return true;
  }
  int number = 0;
  if (word == "--parent") return read_number(value, request.parent);
  if (word == "--memory") return read_number(value, sandbox.memory_bytes);
  if (word == "--supervised") return read_number(value, sandbox.supervised_stop_signal);
  if (!read_number(value, number)) return false;
  if (word == "--max-abi") sandbox.max_abi = number;
  if (word == "--grace") sandbox.stop_grace = std::chrono::seconds(number);
  return word == "--max-abi" || word == "--grace";
}

bool read_switch(Sandbox& sandbox, std::string_view word) {
  bool* flag = word == "--unprivileged"           ? &sandbox.unprivileged
               : word == "--landlock"             ? &sandbox.landlock
               : word == "--tcp"                  ? &sandbox.allows_tcp
               : word == "--without-capabilities" ? &sandbox.without_capabilities
                                                  : nullptr;
  if (flag) *flag = true;
  return flag != nullptr;
}

std::optional<ExecRequest> parse(const std::vector<std::string>& args) {
  ExecRequest request;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& word = args[i];
    if (word == "--") {
      request.argv.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (read_switch(request.sandbox, word)) continue;
    if (i + 1 == args.size() || !read_option(request, word, args[++i])) return std::nullopt;
  }
  return request.argv.empty() || request.parent <= 0 ? std::nullopt : std::optional(std::move(request));
}

LandlockRules rules_of(const Sandbox& sandbox, const std::string& program) {
  LandlockRules rules{sandbox.read,
                      sandbox.run,
                      sandbox.write,
                      sandbox.work,
                      sandbox.devices,
                      sandbox.allows_tcp,
                      sandbox.max_abi.has_value()};
  rules.run.push_back(program);
  return rules;
}

void limit_memory(const Sandbox& sandbox) {
  if (sandbox.memory_bytes == 0) return;
  // Not the address space: the runtime of Go reserves far more of it than it uses.
  rlimit memory{sandbox.memory_bytes, sandbox.memory_bytes};
  ::setrlimit(RLIMIT_DATA, &memory);
}

int execute(const ExecRequest& request, int program) {
  const auto& sandbox = request.sandbox;
  bool is_supervised = sandbox.supervised_stop_signal != 0;
  if (sandbox.without_capabilities && !drop_capabilities()) return print_errno("capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return print_errno("no new privileges");
  auto abi = sandbox.max_abi.value_or(std::numeric_limits<int>::max());
  if (sandbox.landlock && !apply_landlock(rules_of(sandbox, request.argv[0]), abi))
    return print_errno("landlock");
  if (sandbox.unprivileged && !drop_privileges()) return print_errno("change of user");
  if (!is_supervised && !die_with_parent(request.parent)) return print_errno("the parent is gone");
  std::vector<char*> argv;
  for (const auto& word : request.argv) argv.push_back(const_cast<char*>(word.data()));
  argv.push_back(nullptr);
  limit_memory(sandbox);  // last, since a build with sanitizers has more of it than most programs need
  ::execveat(program, "", argv.data(), environ, AT_EMPTY_PATH);
  // A script needs its path: the interpreter opens it.
  ::execv(request.argv[0].c_str(), argv.data());
  return print_errno(request.argv[0]);
}

// Held as long as the supervisor lives, so that a new server does not take the folder for a leftover.
void hold_work_folders(const Sandbox& sandbox) {
  for (const auto& folder : sandbox.work)
    if (int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) ::flock(fd, LOCK_SH);
}

}  // namespace

int unprivileged_uid() { return ::geteuid() == 0 ? kNobody : -1; }
int unprivileged_gid() { return ::geteuid() == 0 ? kNobody : -1; }

Command sandboxed(const Command& command, const Sandbox& sandbox, const std::string& launcher) {
  Command out = command;
  out.argv = {launcher, std::string(kExecChild), "--parent", std::to_string(::getpid())};
  auto add = [&](std::initializer_list<std::string> words) { out.argv.insert(out.argv.end(), words); };
  if (sandbox.unprivileged) add({"--unprivileged"});
  if (sandbox.landlock) add({"--landlock"});
  if (sandbox.allows_tcp) add({"--tcp"});
  if (sandbox.without_capabilities) add({"--without-capabilities"});
  if (sandbox.max_abi) add({"--max-abi", std::to_string(*sandbox.max_abi)});
  if (sandbox.memory_bytes > 0) add({"--memory", std::to_string(sandbox.memory_bytes)});
  if (sandbox.supervised_stop_signal != 0)
    add({"--supervised", std::to_string(sandbox.supervised_stop_signal), "--grace",
         std::to_string(sandbox.stop_grace.count())});
  if (!sandbox.end_file.empty()) add({"--end-file", sandbox.end_file});
  for (const auto& path : sandbox.read) add({"--read", path});
  for (const auto& path : sandbox.write) add({"--write", path});
  for (const auto& path : sandbox.run) add({"--run", path});
  for (const auto& path : sandbox.work) add({"--work", path});
  for (const auto& path : sandbox.devices) add({"--device", path});
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
  const auto& sandbox = request->sandbox;
  if (sandbox.supervised_stop_signal == 0) return execute(*request, program);
  hold_work_folders(sandbox);
  return supervise({request->parent, sandbox.supervised_stop_signal, sandbox.stop_grace, sandbox.end_file},
                   [&] { return execute(*request, program); });
}

}  // namespace dash::net
