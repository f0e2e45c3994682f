// The command tree: an explicit table, no self-registration. A group is a file: cmd/job.cpp defines
// job_group() and declares it in cmd/cli/groups.hpp; root() in cmd/cli/groups.cpp lists the groups in the
// order of the help page. An action declares its flags and returns what runs after they are parsed. That
// function makes one core call and prints the result:
//
//   Run declare_show(Flags& flags) {
//     auto options = std::make_shared<ShowOptions>();
//     flags.argument("JOB", options->id, "id of the job").required();
//     declare_instance(flags, options->instance);      // --target, --data-dir, sign-in: cmd/cli/instance.hpp
//     return [options](Context& context) -> Result<void> {
//       auto instance = TRY(open_instance(context, options->instance, Login::any));
//       auto job = TRY(...);                           // an Error becomes message, exit code and JSON document
//       context.out.line("{} {}", job.id, job.state);  // text mode only, stdout
//       context.out.document(to_json(job));            // JSON mode only, one document; `schema` is added
//       return {};
//     };
//   }
//
//   Group job_group() {
//     return {"job", "Jobs and their approvals",
//             {{"show", "Show one job", "", declare_show, {{"Show a job", "dashctl job show 7f3a9c"}}}, …}};
//   }
//
// The printer (cmd/cli/printer.hpp) writes data to stdout and notes to stderr; out.note() respects --quiet,
// out.warn() does not. Every action takes --output, --quiet, --no-input and --help as well; a daemon takes
// --help alone. Help, man page and completion come from the same table.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/flags.hpp"
#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::cmd {

class Printer;

struct Context {
  Printer& out;
  bool can_prompt = true;     // false with --no-input: a prompt is an error that names the flag to use
  std::string last_url = {};  // the address of the last API called, for messages
  std::optional<Secret> password = {};  // of the login, once it was read: stdin cannot be read again
};

using Run = std::function<Result<void>(Context&)>;

// One command line that the pages show. tests/e2e/test_help.py runs each against a prepared instance.
struct Example {
  std::string purpose;  // what it does, no full stop
  std::string command;  // as a shell takes it
  int exit_code = 0;
};

struct Action {
  std::string name;     // empty: the group is itself the command (`dashctl serve`)
  std::string summary;  // one line, no full stop
  std::string details;  // paragraphs for help and man page, may be empty
  std::function<Run(Flags&)> declare;
  std::vector<Example> examples = {};
  bool is_hidden = false;
  bool is_daemon = false;  // handles SIGINT and SIGTERM itself, and logs instead of printing
};

struct Group {
  std::string name;
  std::string summary;
  std::vector<Action> actions;
  bool is_hidden = false;
};

}  // namespace dash::cmd
