#include "core/deploy/program.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/base/environment.hpp"
#include "core/base/lines.hpp"
#include "core/base/text.hpp"
#include "core/net/process/exec_child.hpp"

namespace dash::deploy {
namespace {

constexpr std::size_t kMaxOutputLine = 4096;
constexpr std::size_t kMaxDocumentBytes = 64u << 20;
// Beyond the time in which the program itself is killed.
constexpr std::chrono::seconds kSupervisorGrace{30};
constexpr std::string_view kErrorMark = "Error: ";

// Cuts a stream into lines, hides secrets in them and logs them.
class LogSink final : public Sink {
 public:
  LogSink(jobs::RunControl& control, const jobs::SecretMask& mask, std::string& error)
      : control_(control), mask_(mask), error_(error) {}
  Result<void> write(std::string_view bytes) override {
    for (char c : bytes) {
      if (c == '\n') {
        flush();
      } else if (line_.size() < kMaxOutputLine) {
        line_ += c;
      }
    }
    return {};
  }
  void flush() {
    auto line = mask_.mask_lines({std::exchange(line_, {})}, kMaxOutputLine);
    auto mark = line.find(kErrorMark);
    if (error_.empty() && mark != line.npos) error_ = line.substr(mark + kErrorMark.size());
    if (!trim(line).empty()) control_.log(std::move(line));
  }

 private:
  jobs::RunControl& control_;
  const jobs::SecretMask& mask_;
  std::string& error_;
  std::string line_;
};

// Of a document each line is one too, without its indentation.
std::vector<std::string> with_trimmed_lines(const std::vector<std::string>& secrets) {
  auto out = secrets;
  for (const auto& secret : secrets)
    for (auto line : lines_of(secret)) out.emplace_back(trim(line));
  return out;
}

}  // namespace

Program::Program(ProgramOptions options, const WorkFolder& folder, jobs::RunControl& control)
    : options_(std::move(options)),
      mask_(with_trimmed_lines(options_.secrets)),
      folder_(folder),
      control_(control) {}

Result<std::string> find_iac_program() {
  if (auto named = environment_variable("IAC_BINARY"); !named.empty())
    return std::filesystem::absolute(TRY(within("IAC_BINARY", net::find_program(named)))).string();
  for (auto name : {"tofu", "terraform"})
    if (auto found = net::find_program(name)) return found;
  return fail(Code::not_found,
              "neither tofu nor terraform is on the PATH: install one of them, or set IAC_BINARY to its path "
              "and start the server again");
}

Result<ProgramResult> Program::run_with(const std::vector<std::string>& arguments, Sink& out, Sink& err) {
  net::Command command{{options_.path}, folder_.environment(), folder_.program_folder()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env.insert(command.env.end(), options_.environment.begin(), options_.environment.end());
  net::Sandbox supervised;
  supervised.unprivileged = supervised.landlock = false;
  supervised.supervised_stop_signal = SIGINT;
  supervised.stop_grace = options_.stop_timeout;
  supervised.end_file = folder_.end_file();
  auto wrapped = net::sandboxed(command, supervised, options_.launcher);
  auto child = TRY(net::Child::start(wrapped));
  TRY(folder_.note_program(child.pid()));
  net::RunOptions options;
  options.out = &out;
  options.err = &err;
  options.should_stop = [this] { return control_.should_stop(); };
  options.grace = options_.stop_timeout + kSupervisorGrace;
  auto exit = child.communicate(options);
  if (!exit && exit.error().code == Code::interrupted) return ProgramResult{child.exit_status(), true, {}};
  auto status = TRY(std::move(exit));
  return ProgramResult{status, false, {}};
}

Result<ProgramResult> Program::run(const std::vector<std::string>& arguments) {
  std::string error;
  LogSink out(control_, mask_, error), err(control_, mask_, error);
  auto result = run_with(arguments, out, err);
  out.flush();
  err.flush();
  if (result) result->error = error;
  return result;
}

Result<std::string> Program::print(const std::vector<std::string>& arguments) {
  std::string error;
  StringSink out(kMaxDocumentBytes);
  LogSink err(control_, mask_, error);
  auto result = TRY(run_with(arguments, out, err));
  err.flush();
  if (result.exit.ok()) return out.take();
  if (result.is_stopped) return fail(Code::interrupted, "the job was stopped");
  return fail(Code::upstream, "{}", error.empty() ? result.exit.text() : error);
}

}  // namespace dash::deploy
