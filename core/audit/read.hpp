// Reads the log: pages for GET /api/audit, and the whole of it for `dashctl audit export`.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/entry.hpp"
#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"

namespace dash::audit {

inline constexpr std::int64_t kMaxPageEntries = 500;

// Selects entries. Without any member: the newest entries, newest first.
struct EntryFilter {
  std::optional<std::string> action;  // exact, or a prefix when it ends in '*'
  std::optional<std::string> username;
  std::optional<std::string> target;
  std::optional<std::int64_t> since;   // microseconds, included
  std::optional<std::int64_t> until;   // microseconds, excluded
  std::optional<std::int64_t> after;   // entries with a greater seq, oldest first: to read the whole log
  std::optional<std::int64_t> before;  // entries with a smaller seq: the next page
  std::int64_t limit = 50;             // 1..kMaxPageEntries
};

struct EntryPage {
  std::vector<LogEntry> entries;
  std::optional<std::int64_t> next_before;  // absent on the last page
  std::optional<std::int64_t> next_after;   // the same, in ascending order
};

// Returns an action or a prefix as entries have it, from either spelling of the clouds.
std::string canonical_filter(std::string_view action);

Result<EntryPage> list(Log& log, const Principal& principal, const EntryFilter& filter);
// {entries: [...], next_before: int|null, next_after: int|null}. The hash covers the canonical spelling.
OrderedJson to_json(const EntryPage& page, config::NameStyle style = config::NameStyle::canonical);

// Writes all entries, oldest first, one JSON object a line.
Result<void> export_lines(Log& log, const Principal& principal,
                          const std::function<Result<void>(std::string_view)>& line);

}  // namespace dash::audit
