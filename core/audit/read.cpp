#include "core/audit/read.hpp"

#include <algorithm>

namespace dash::audit {
namespace {

// "AND <column> <op> $n" for each filter that is set.
class WhereClause {
 public:
  template <class T>
  void add(std::string_view condition, const std::optional<T>& value) {
    if (!value) return;
    params.emplace_back(*value);
    sql += fmt::format(fmt::runtime(condition), params.size());
  }
  std::string sql = "WHERE 1 = 1";
  db::Params params;
};

// Returns the smallest text that is greater than all texts with the prefix, so that the index can be used.
// The prefix is ASCII in practice.
std::string prefix_upper_bound(const std::string& prefix) { return prefix + "\x7f"; }

Failure unreadable(std::int64_t seq) {
  return fail(Code::integrity, "entry {} of the audit log cannot be read; run `dashctl audit verify`", seq);
}

}  // namespace

// A prefix may end before the action's own name does: "aws:*" is "cloud1:*".
std::string canonical_filter(std::string_view action) {
  if (action.ends_with(":*"))
    for (const auto& c : config::clouds())
      if (action.substr(0, action.size() - 2) == c.provider) return fmt::format("{}:*", c.cloud);
  return config::canonical_action(action);
}

Result<EntryPage> list(Log& log, const Principal& principal, const EntryFilter& filter) {
  TRY(require_admin(principal));
  if (filter.limit < 1 || filter.limit > kMaxPageEntries)
    return fail(Code::invalid, "limit is 1 to {}, not {}", kMaxPageEntries, filter.limit);
  WhereClause where;
  if (filter.action && filter.action->ends_with('*')) {
    auto prefix = filter.action->substr(0, filter.action->size() - 1);
    where.add(" AND action >= ${}", std::optional(prefix));
    where.add(" AND action < ${}", std::optional(prefix_upper_bound(prefix)));
  } else {
    where.add(" AND action = ${}", filter.action);
  }
  where.add(" AND username = ${}", filter.username);
  where.add(" AND target = ${}", filter.target);
  where.add(" AND at >= ${}", filter.since);
  where.add(" AND at < ${}", filter.until);
  where.add(" AND seq < ${}", filter.before);
  where.add(" AND seq > ${}", filter.after);
  return db::read<EntryPage>(log.sql(), [&](db::Transaction& tx) -> Result<EntryPage> {
    EntryPage page;
    auto rows = TRY(tx.query(fmt::format("{}{} ORDER BY seq {} LIMIT {}", kSelectEntries, where.sql,
                                         filter.after ? "ASC" : "DESC", filter.limit + 1),
                             where.params));
    bool has_more = std::cmp_greater(rows.size(), filter.limit);
    if (has_more) rows.pop_back();
    for (const auto& row : rows) {
      auto entry = entry_from_row(row);
      if (!entry) return unreadable(row.integer(0));
      page.entries.push_back(*std::move(entry));
    }
    if (has_more) (filter.after ? page.next_after : page.next_before) = page.entries.back().seq;
    return page;
  });
}

OrderedJson to_json(const EntryPage& page, config::NameStyle style) {
  OrderedJson out;
  out["entries"] = OrderedJson::array();
  for (const auto& entry : page.entries) {
    auto shown = to_json(entry);
    if (style == config::NameStyle::provider) shown["action"] = config::provider_action(entry.action);
    out["entries"].push_back(std::move(shown));
  }
  out["next_before"] = page.next_before ? OrderedJson(*page.next_before) : OrderedJson(nullptr);
  out["next_after"] = page.next_after ? OrderedJson(*page.next_after) : OrderedJson(nullptr);
  return out;
}

Result<void> export_lines(Log& log, const Principal& principal,
                          const std::function<Result<void>(std::string_view)>& line) {
  TRY(require_admin(principal));
  return log.sql().read([&](db::Transaction& tx) {
    return tx.each(std::string(kSelectEntries) + "ORDER BY seq", {}, [&](const db::Row& row) -> Result<void> {
      auto entry = entry_from_row(row);
      if (!entry) return unreadable(row.integer(0));
      return line(export_line(*entry));
    });
  });
}

}  // namespace dash::audit
