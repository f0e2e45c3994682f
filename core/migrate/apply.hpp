// Writes what a comparison found and proves it by reading back: one request for keys and regions together,
// all or nothing; then the webhooks row by row; then the same comparison again, in which everything must be
// SAME.
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
  std::vector<std::string> not_as_written;  // keys that read back otherwise
  std::vector<std::string> unverified;      // keys that the target hides from us
  std::vector<std::string> not_replaced;    // clouds whose region sets stay, against --regions replace
  std::optional<Error> not_read_back;       // why nothing could be read back
};

struct ApplyOptions {
  DiffOptions diff;
  setup::StateOptions state;
  std::optional<Bootstrap> bootstrap;
  // What begins ("writing", "writing endpoints", "reading back") and what was done until then: for whoever is
  // told at Ctrl-C.
  std::function<void(std::string_view, const ApplyResult&)> on_stage;
  std::function<void(std::chrono::milliseconds)> wait;  // a Python dashboard answers from a cache for 5 s
};

// An error is one of the single write, before which nothing happened; where its answer was lost it says that
// nobody knows and what to do. Everything after the write is in the report.
Result<ApplyResult> apply(const Bundle& bundle, const SelectedConfig& selected, const Diff& diff,
                          Target& target, const ApplyOptions& options, Progress& progress);

// Code::partial naming what failed, else nothing.
Result<void> check_applied(const ApplyResult& applied);

OrderedJson to_json(const ApplyResult& applied);

}  // namespace dash::migrate
