#include "core/jobs/executor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/base/environment.hpp"
#include "core/base/trusted_path.hpp"
#include "core/config/clouds.hpp"
#include "core/jobs/actions.hpp"
#include "core/net/process/exec_child.hpp"
#include "core/net/process/find_program.hpp"

namespace dash::jobs {
namespace {

constexpr std::size_t kMaxRunnerName = 64;
// Between SIGTERM and SIGKILL, as in the deployed dashboards.
constexpr std::chrono::seconds kTerminationGrace(20);

std::string file_name_of(std::string action) {
  std::ranges::replace(action, ':', '-');
  return action;
}

// Returns whether the file in the folder is an executable.
bool is_executable(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// Returns every action that may have an executor, with the names of its file.
std::vector<std::pair<std::string, std::vector<std::string>>> executor_names() {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const auto& action : actions()) {
    std::string name(action.name);
    out.push_back({name, {name, config::provider_action(name)}});
  }
  out.push_back({std::string(kAutomationRun), {std::string(kAutomationRun)}});
  return out;
}

// Cuts a stream of bytes into lines.
class LineSplitter final : public Sink {
 public:
  explicit LineSplitter(const std::function<void(std::string)>& on_line) : on_line_(on_line) {}
  Result<void> write(std::string_view bytes) override {
    for (char c : bytes) {
      if (c == '\n') {
        flush();
      } else if (partial_.size() < kMaxExecutorLine) {
        partial_ += c;
      }
    }
    return {};
  }
  void finish() {
    if (!partial_.empty()) flush();
  }
  const std::string& last() const { return last_; }

 private:
  void flush() {
    last_ = std::exchange(partial_, {});
    on_line_(last_);
  }
  const std::function<void(std::string)>& on_line_;
  std::string partial_, last_;
};

net::Command command_of(const std::string& path, const std::string& launcher) {
  net::Command command{{path}, {"PATH=" + net::search_path()}, {}};
  if (launcher.empty()) return command;
  net::Sandbox sandbox;
  sandbox.unprivileged = false;
  sandbox.landlock = false;
  sandbox.supervised_stop_signal = SIGTERM;
  return net::sandboxed(command, sandbox, launcher);
}

}  // namespace

RunResult failed_run(const Error& error) { return {RunStatus::failed, error.message}; }

RunResult with_exit(RunResult result, const net::ExitStatus& exit) {
  if (exit.signal != 0) {
    result.signal = exit.signal;
  } else if (exit.code >= 0) {
    result.exit_status = exit.code;
  }
  return result;
}

Json executor_document(const Job& job, const Json& parameters) {
  Json out = {{"job_id", job.id},
              {"action", job.action},
              {"name", job.name},
              {"region", job.region},
              {"request", job.request},
              {"parameters", parameters},
              {"created_by", job.created_by},
              {"created_at", format_iso(job.created_at)},
              {"attempt", job.attempts}};
  out["resource_id"] = job.resource_id ? Json(*job.resource_id) : Json(nullptr);
  out["zone"] = job.request.contains("zone") ? job.request["zone"] : Json(nullptr);
  out["workgroup"] = job.workgroup ? Json(*job.workgroup) : Json(nullptr);
  return out;
}

std::string executor_folder(const std::string& data_dir) {
  auto folder = environment_variable("DASHCTL_EXECUTOR_DIR");
  return folder.empty() ? data_dir + "/deploy" : folder;
}

Executors::Executors(const std::string& folder, std::string launcher)
    : Executors(folder, std::move(launcher), ::geteuid()) {}

Executors::Executors(const std::string& folder, std::string launcher, uid_t user)
    : folder_(std::filesystem::absolute(folder)), launcher_(std::move(launcher)), user_(user) {}

std::string Executors::expected_path(const std::string& action) const {
  return folder_ + "/" + file_name_of(action);
}

std::map<std::string, std::string> Executors::available() const {
  std::map<std::string, std::string> out;
  for (const auto& [action, names] : executor_names())
    for (const auto& name : names)
      if (auto path = expected_path(name); is_executable(path) && check_trusted_file(path, user_))
        out.try_emplace(action, path);
  return out;
}

Result<std::string> Executors::find_runner(const std::string& name) const {
  bool is_plain = !name.empty() && name.size() <= kMaxRunnerName && name.front() != '.' &&
                  std::ranges::all_of(name, [](unsigned char c) {
                    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                  });
  if (!is_plain)
    return fail(Code::conflict,
                "there is no automation runner of this name: a name has letters, digits, '.', "
                "'-' and '_'");
  auto path = fmt::format("{}/runner-{}", folder_, name);
  if (!is_executable(path))
    return fail(
        Code::conflict,
        "the automation runner '{}' is missing: put an executable at {}, or choose the runner 'local'", name,
        path);
  if (auto safe = check_trusted_file(path, user_); !safe)
    return fail(Code::conflict, "the automation runner '{}' is not run: {}", name, safe.error().message);
  return path;
}

std::vector<RefusedExecutor> Executors::refused() const {
  std::vector<RefusedExecutor> out;
  for (const auto& [action, names] : executor_names()) {
    for (const auto& name : names) {
      auto path = expected_path(name);
      if (!is_executable(path)) continue;
      if (auto safe = check_trusted_file(path, user_); !safe)
        out.push_back({action, path, safe.error().message});
    }
  }
  return out;
}

Result<RunResult> Executors::run(const std::string& path, const Json& document,
                                 const std::function<void(std::string)>& line,
                                 const std::function<bool()>& should_stop) const {
  auto child = TRY(net::Child::start(command_of(path, launcher_)));
  auto input = dump_json(document) + "\n";
  LineSplitter out(line), err(line);
  net::RunOptions options;
  options.input = input;
  options.out = &out;
  options.err = &err;
  options.should_stop = should_stop;
  options.grace = kTerminationGrace;
  auto exit = child.communicate(options);
  out.finish();
  err.finish();
  if (!exit && exit.error().code == Code::interrupted)
    return with_exit({RunStatus::stopped, {}}, child.exit_status());
  if (!exit) return Failure(exit.error());
  if (exit->ok()) return with_exit({RunStatus::done, {}}, *exit);
  const auto& last_line = err.last().empty() ? out.last() : err.last();
  auto error = last_line.empty() ? exit->text() : fmt::format("{}: {}", exit->text(), last_line);
  return with_exit({RunStatus::failed, std::move(error)}, *exit);
}

}  // namespace dash::jobs
