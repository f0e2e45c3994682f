// The meaning of a policy directory: which files are rules, which are not and why, which built-in rules are
// used, and what the engine loads. Pure: made from a snapshot and from the engine's own parse of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/policy/snapshot.hpp"

namespace dash::policy {

// A place and what is wrong there. lint adds what only evaluation shows.
struct Problem {
  std::string file;  // relative to the policy directory; empty: the directory itself
  int row = 0, col = 0;
  std::string code;  // stable word: "syntax", "name_mismatch", …
  std::string message;
  std::string fix;
  bool is_error = true;
};

// {"file", "row", "col", "code", "message", "fix", "level": "error" | "warning"}
OrderedJson to_json(const Problem& problem);

struct RuleFile {
  std::string file;
  std::string package;              // dotted: "admission.allowed_regions"
  std::optional<std::string> rule;  // the rule id, when the package is admission.<rule_id>
  bool is_builtin = false;          // from the binary
  bool evaluates = false;           // its denials count
  bool has_deny = false, has_approval = false;
  int line = 0;            // of the first deny (or needs_approval) head
  std::vector<int> heads;  // lines of all of them
  Json module;             // the engine's syntax tree

  // Returns the name under which the engine loads it.
  std::string loaded_as() const { return is_builtin ? ".." + file : file; }
};

struct RuleSet {
  // Shown in Settings: everything but helpers, data and tests; ascending by file.
  std::vector<RuleFile> rules;
  std::vector<PolicyFile> live;   // what the engine loads, built-ins included
  std::vector<Problem> problems;  // of this directory; none of them stops the gate
  std::string digest;             // SHA-256 hex of `live`
};

// Makes a rule set from a snapshot. `modules`: [{file, module}] as the engine parsed the snapshot's .rego
// files.
RuleSet make_rule_set(const Snapshot& snapshot, const Json& modules);

// Returns core/policy/builtin/*.rego as "..builtin/<id>.rego", and their tests with `with_tests`.
std::vector<PolicyFile> builtin_files(bool with_tests);

// Returns the line of the first head (or package line) that begins with `word`, 0 when there is none. The
// engine's parse has no lines. The line is only displayed; no decision depends on it.
int head_line(std::string_view text, std::string_view word);
// Returns the lines of all heads of deny and needs_approval, ascending.
std::vector<int> head_lines(std::string_view text);

// Returns the number of letters to change from one word to the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace dash::policy
