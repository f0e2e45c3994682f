#include "core/policy/decision_log.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/log.hpp"
#include "core/config/masking.hpp"
#include "core/crypto/hash.hpp"
#include "core/db/exec_many.hpp"

namespace dash::policy {
namespace {

constexpr std::chrono::milliseconds kFlushDelay{200};  // decisions of this period share one write
// above: the oldest waiting ones are dropped, and the log reports it
constexpr std::size_t kMaxPending = 4'096;
constexpr std::array<std::string_view, 9> kSecretEnds{
    "password", "passwd", "secret", "token", "api_key", "apikey", "private_key", "credentials", "access_key"};

bool is_secret_name(std::string_view name) {
  std::string low(name);
  std::ranges::transform(low, low.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(kSecretEnds, [&](std::string_view end) { return low.ends_with(end); });
}

constexpr std::string_view kColumns =
    R"(at, action, username, request_id, verdict, reasons, enforced, dry_run, rules, policy_digest,
       input_digest, input, id)";

constexpr std::string_view kInsert =
    R"(INSERT INTO decisions
         (id, at, action, username, request_id, verdict, reasons, enforced, dry_run, rules, policy_digest,
          input_digest, input, seq)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14))";

Verdict verdict_of(std::string_view text) {
  if (text == word(Verdict::allow)) return Verdict::allow;
  return text == word(Verdict::needs_approval) ? Verdict::needs_approval : Verdict::deny;
}

db::Params row_of(const DecisionRecord& r) {
  return {crypto::uuid4(),
          to_micros(r.at),
          r.action,
          r.username,
          r.request_id,
          std::string(word(r.verdict)),
          dump_json(Json(r.reasons)),
          std::int64_t{r.is_enforced},
          std::int64_t{r.is_dry_run},
          dump_json(Json(r.rules)),
          r.policy_digest,
          r.input_digest,
          dump_json(mask_secrets(r.input))};
}

std::vector<std::string> texts_of(const std::string& stored) {
  std::vector<std::string> out;
  if (auto list = parse_json(stored); list && list->is_array())
    for (const auto& text : *list) out.push_back(text.get<std::string>());
  return out;
}

DecisionRecord read_row(const db::Row& row) {
  DecisionRecord out;
  out.at = from_micros(row.integer(0));
  out.action = row.text(1), out.username = row.text(2), out.request_id = row.text(3);
  out.verdict = verdict_of(row.text(4));
  out.reasons = texts_of(row.text(5));
  out.is_enforced = row.flag(6), out.is_dry_run = row.flag(7);
  out.rules = texts_of(row.text(8));
  out.policy_digest = row.text(9), out.input_digest = row.text(10);
  if (auto input = parse_json(row.text(11))) out.input = *std::move(input);
  out.id = row.text(12);
  return out;
}

DecisionRecord make_record(const Decision& decision, const Actor& actor, Time at, bool is_dry_run) {
  DecisionRecord out;
  out.at = at;
  out.action = decision.action;
  out.username = actor.username, out.request_id = actor.request_id;
  out.verdict = decision.verdict;
  bool needs_approval = decision.verdict == Verdict::needs_approval;
  out.reasons = needs_approval ? decision.approval_reasons : decision.reasons;
  out.is_enforced = !is_dry_run && (!needs_approval || decision.enforce_needs_approval);
  out.is_dry_run = is_dry_run;
  for (const auto& rule : decision.rules) out.rules.push_back(rule.id);
  out.policy_digest = decision.policy_digest, out.input_digest = decision.input_digest;
  out.input = decision.input;
  return out;
}

OrderedJson workgroup_of(const Json& input) {
  static const Json::json_pointer kWorkgroup("/request/workgroup");
  return input.contains(kWorkgroup) ? OrderedJson(input.at(kWorkgroup)) : OrderedJson();
}

struct WhereClause {
  std::string sql = "WHERE dry_run = $1";
  db::Params params;
  void add(std::string_view condition, db::Value value) {
    params.emplace_back(std::move(value));
    sql += fmt::format(fmt::runtime(condition), params.size());
  }
};

WhereClause where_clause(const DecisionFilter& filter) {
  WhereClause out;
  out.params.emplace_back(std::int64_t{filter.is_dry_run});
  if (filter.action) out.add(" AND action = ${}", *filter.action);
  if (filter.username) out.add(" AND username = ${}", *filter.username);
  if (filter.verdict) out.add(" AND verdict = ${}", std::string(word(*filter.verdict)));
  if (filter.since) out.add(" AND at >= ${}", to_micros(*filter.since));
  if (filter.until) out.add(" AND at <= ${}", to_micros(*filter.until));
  // Quotes inside of a text are escaped in JSON, so that only a member matches. Unlike LIKE it heeds the case on
  // both engines.
  if (filter.workgroup)
    out.add(" AND replace(input, ${}, '') <> input",
            fmt::format("\"workgroup\":{}", dump_json(Json(*filter.workgroup))));
  return out;
}

// Deletes all but the newest `most` of the dry runs, or of the decisions.
Result<void> delete_oldest(db::Transaction& tx, bool dry_runs, std::int64_t most) {
  TRY(tx.exec(
      R"(DELETE FROM decisions
         WHERE dry_run = $1
           AND seq < (SELECT seq FROM decisions WHERE dry_run = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2))",
      {std::int64_t{dry_runs}, most - 1}));
  return {};
}

}  // namespace

Json mask_secrets(Json document) {
  if (document.is_object()) {
    for (auto& [name, value] : document.items())
      value = is_secret_name(name) && !value.is_null() ? Json(config::kMask) : mask_secrets(std::move(value));
  } else if (document.is_array()) {
    for (auto& value : document) value = mask_secrets(std::move(value));
  }
  return document;
}

DecisionLog::~DecisionLog() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DecisionLog::record(const Decision& decision, const Actor& actor, Time at, bool is_dry_run) {
  auto entry = make_record(decision, actor, at, is_dry_run);
  bool dropped = false, first = false;
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    dropped = pending_.size() >= kMaxPending;
    if (dropped) pending_.pop_front();
    first = pending_.empty();
    pending_.push_back(std::move(entry));
  }
  if (first) woken_.notify_all();
  if (dropped) log::warning("policy.decision_dropped", {{"waiting", kMaxPending}});
}

void DecisionLog::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    woken_.wait(lock, [&] { return closing_ || !pending_.empty(); });
    if (!closing_) woken_.wait_for(lock, kFlushDelay, [&] { return closing_; });
    bool last = closing_;
    lock.unlock();
    if (auto done = flush(); !done) log::error("policy.decision_log", {{"cause", done.error().message}});
    lock.lock();
    if (last) return;
  }
}

Result<void> DecisionLog::flush() {
  std::lock_guard writing(write_mutex_);
  std::deque<DecisionRecord> batch;
  {
    std::lock_guard lock(mutex_);
    batch.swap(pending_);
  }
  if (batch.empty()) return {};
  // Made before the transaction, because no refusal is recorded while that lasts.
  std::vector<db::Statement> statements;
  for (const auto& record : batch) statements.push_back({kInsert, row_of(record)});
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto seq = TRY(tx.query("SELECT coalesce(max(seq), 0) FROM decisions"))[0].integer(0);
    for (auto& one : statements) one.params.emplace_back(++seq);
    TRY(db::exec_many(tx, statements));
    TRY(delete_oldest(tx, false, kMaxDecisions));
    return delete_oldest(tx, true, kMaxDryRuns);
  });
}

Result<std::vector<DecisionRecord>> DecisionLog::recent(std::int64_t limit, bool dry_runs) {
  TRY(flush());
  std::vector<DecisionRecord> out;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    return tx.each(
        fmt::format("SELECT {} FROM decisions WHERE dry_run = $1 ORDER BY seq DESC LIMIT $2", kColumns),
        {std::int64_t{dry_runs}, limit}, [&](const db::Row& row) -> Result<void> {
          out.push_back(read_row(row));
          return {};
        });
  }));
  return out;
}

Result<DecisionPage> DecisionLog::list(const Principal& principal, const DecisionFilter& filter) {
  TRY(require_admin(principal));
  TRY(flush());
  auto where = where_clause(filter);
  return db::read<DecisionPage>(sql_, [&](db::Transaction& tx) -> Result<DecisionPage> {
    DecisionPage out;
    out.total = TRY(tx.query("SELECT count(*) FROM decisions " + where.sql, where.params))[0].integer(0);
    auto rows =
        TRY(tx.query(fmt::format("SELECT {} FROM decisions {} ORDER BY seq DESC LIMIT {} OFFSET {}", kColumns,
                                 where.sql, filter.page_size, (filter.page - 1) * filter.page_size),
                     where.params));
    std::ranges::transform(rows, std::back_inserter(out.decisions), read_row);
    return out;
  });
}

OrderedJson to_json(const DecisionRecord& r, config::NameStyle style) {
  bool is_provider = style == config::NameStyle::provider;
  return {{"id", r.id},
          {"at", format_iso(r.at)},
          {"action", is_provider ? config::provider_action(r.action) : r.action},
          {"actor", r.username},
          {"request_id", r.request_id.empty() ? OrderedJson() : OrderedJson(r.request_id)},
          {"verdict", word(r.verdict)},
          {"reasons", r.reasons},
          {"enforced", r.is_enforced},
          {"dry_run", r.is_dry_run},
          {"rules", r.rules},
          {"workgroup", workgroup_of(r.input)},
          {"policy_digest", r.policy_digest.empty() ? OrderedJson() : OrderedJson(r.policy_digest)},
          {"input_digest", r.input_digest},
          {"input", OrderedJson(r.input)}};
}

OrderedJson to_json(const DecisionPage& page, const DecisionFilter& filter, config::NameStyle style) {
  auto decisions = OrderedJson::array();
  for (const auto& record : page.decisions) decisions.push_back(to_json(record, style));
  return {{"decisions", std::move(decisions)},
          {"total", page.total},
          {"page", filter.page},
          {"page_size", filter.page_size}};
}

}  // namespace dash::policy
