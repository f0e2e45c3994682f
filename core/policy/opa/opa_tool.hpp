// The engine's binary as a tool: check and parse a directory, run its unit tests, list its capabilities. Each
// run is a sandboxed child (net/process/exec_child.hpp) with an empty environment that may read only the
// given folder.
#pragma once
#include <chrono>
#include <functional>
#include <set>

#include "core/net/process/child_spawner.hpp"
#include "core/policy/opa/run_dir.hpp"
#include "core/policy/rule_set.hpp"

namespace dash::policy {

struct ParseResult {
  Json modules = Json::array();  // [{file, module}] of the .rego files
  std::vector<Problem> errors;   // not empty: the directory is broken
};

// (file, row) of the engine's coverage: the starts in the first column. A head is there; a body is not,
// unless it is written so.
using FiredRows = std::set<std::pair<std::string, int>>;

struct ToolResult {
  int exit_code = 0;
  std::string out, err;
};

// How long a run may take.
struct ToolOptions {
  // Then the run is killed with its group.
  std::chrono::steady_clock::time_point due = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  // The run is also killed when this returns true.
  std::function<bool()> should_stop{};
};

class OpaTool {
 public:
  // `binary` is a path, or a name to search on PATH. It is looked up at each run, so that an installed engine
  // is found without a restart.
  OpaTool(std::string binary, std::string launcher)
      : binary_(std::move(binary)), launcher_(std::move(launcher)) {}

  // Compiles every file with the restricted capabilities and parses it. Errors of the files are in the
  // result; an Error means a missing or failing engine (Code::policy_unavailable).
  Result<ParseResult> parse(const RunDir& run, const std::string& folder,
                            const std::vector<PolicyFile>& files, const ToolOptions& limits = {});
  // Runs `check` against the schema of the input document, which finds misspelt fields. Call it only for
  // files that parse() accepts.
  Result<std::vector<Problem>> check_fields(const RunDir& run, const std::string& folder,
                                            const std::string& schema_file);
  // Returns the rows of each file at which something began that came true for the document, rule heads
  // included.
  Result<FiredRows> fired_rows(const std::string& folder, std::string_view document);
  // Runs `test --format json`.
  Result<ToolResult> test(const std::string& folder);
  // Starts the engine as a server on `socket_folder`/s, over the files of `folder`.
  Result<net::Child> serve(net::ChildSpawner& spawner, const std::string& folder,
                           const std::string& socket_folder);
  // Returns whether the engine runs in the sandbox, for status pages. A script does not.
  bool sandboxed() const;

 private:
  Result<net::Command> command(std::vector<std::string> args, const std::string& folder,
                               std::vector<std::string> read, std::vector<std::string> write) const;
  Result<ToolResult> run(std::vector<std::string> args, const std::string& folder,
                         std::vector<std::string> read, std::string_view input, const ToolOptions& limits);
  Result<std::string> capabilities(const RunDir& run, const ToolOptions& limits);
  const std::string binary_, launcher_;
  std::mutex mutex_;
};

// Returns whether rules may not call the built-in: it reaches the network or the process's environment.
bool is_forbidden_builtin(std::string_view name);

}  // namespace dash::policy
