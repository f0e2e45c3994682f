// Writes what a comparison found, and proves it by reading back. One request writes keys and regions
// together, all or nothing; then the webhooks are written row by row; then the same comparison runs again,
// and everything in it must be SAME.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/migrate/diff.hpp"

namespace dash::migrate {

struct ApplyResult {
  bool wrote = false;  // false: the target already matched, or refused everything
  TargetWriteResult write_result;
  std::map<std::string, std::string> failed_webhooks;  // name → why
  std::size_t webhooks_written = 0;
  std::vector<std::string> not_as_written;  // keys that read back with another value
  std::vector<std::string> unverified;      // keys that the target does not show
  std::vector<std::string> not_replaced;    // clouds whose region sets stay, in spite of --regions replace
  std::optional<Error> not_read_back;       // why nothing could be read back
};

struct ApplyOptions {
  DiffOptions diff;
  setup::StateOptions state;
  std::optional<Bootstrap> bootstrap;
  // Called when a stage begins ("writing", "writing endpoints", "reading back"), with what was done until
  // then, for the message at Ctrl-C.
  std::function<void(std::string_view, const ApplyResult&)> on_stage;
  std::function<void(std::chrono::milliseconds)> wait;  // a peer answers from a cache for some seconds
};

// Writes and verifies. An error is one of the single write, before which nothing changed. Where its response
// was lost the message explains that the outcome is unknown and what to do. Everything after the write is in
// the result.
Result<ApplyResult> apply(const Bundle& bundle, const SelectedConfig& selected, const Diff& diff,
                          Target& target, const ApplyOptions& options, Progress& progress);

// Fails with Code::partial, naming what failed.
Result<void> check_applied(const ApplyResult& applied);

OrderedJson to_json(const ApplyResult& applied);

}  // namespace dash::migrate
