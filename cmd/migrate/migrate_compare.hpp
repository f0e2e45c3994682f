// What diff and import share: their flags, and the comparison.
#pragma once
#include "cmd/migrate/migrate.hpp"
#include "core/base/shell_word.hpp"
#include "core/migrate/apply.hpp"

namespace dash::cmd {

struct ComparisonFlags {
  std::string bundle, passphrase_file, setup_code_file;
  InstanceFlags instance;
  IfAbsent if_absent = IfAbsent::fail;
  migrate::Selection selection;
  std::string regions = "merge";
  bool no_compare = false;
  bool exit_code = false;
  bool show_same = false;
};
void declare_comparison(Flags& flags, ComparisonFlags& into);

// Everything that is known before the target is written to. It refers to itself: do not move it while
// `target` is in use elsewhere.
struct ComparisonResult {
  migrate::Bundle bundle;
  migrate::SelectedConfig selected;
  MigrateTarget target;
  Secret setup_code;
  migrate::DiffOptions options;
  migrate::Diff diff;

  std::string target_name() const { return target.instance->name(); }
  // Returns "--target URL" or "--data-dir DIR", for commands that are printed.
  std::string target_flag() const {
    return (target.local ? "--data-dir " : "--target ") + shell_word(target_name());
  }
};
// Prints the comparison. `options` come from `flags` unless a plan has others.
Result<ComparisonResult> compare_bundle(Context& context, const ComparisonFlags& flags,
                                        const migrate::DiffOptions& options);

migrate::DiffOptions options_of(const ComparisonFlags& flags);

// Returns the one JSON document of a run; `applied` is null when nothing was to be written.
OrderedJson comparison_document(const ComparisonFlags& flags, const ComparisonResult& compared,
                                const migrate::ApplyResult* applied);

// Code::differences with --exit-code when there are some.
Result<void> check_differences(const ComparisonFlags& flags, const migrate::Diff& diff);

}  // namespace dash::cmd
