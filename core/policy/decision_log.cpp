#include "core/policy/decision_log.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"

namespace dash::policy {
namespace {

constexpr std::chrono::milliseconds kGather{200};  // decisions of this long share one write
constexpr std::size_t kMaxWaiting = 4'096;         // above: the oldest waiting ones are dropped, and said so
constexpr std::string_view kMask = "\u2022\u2022\u2022\u2022\u2022\u2022\u2022\u2022";
constexpr std::array<std::string_view, 9> kSecretEnds{
    "password", "passwd", "secret", "token", "api_key", "apikey", "private_key", "credentials", "access_key"};

bool names_a_secret(std::string_view name) {
  std::string low(name);
  std::ranges::transform(low, low.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(kSecretEnds, [&](std::string_view end) { return low.ends_with(end); });
}

Verdict verdict_of(std::string_view text) {
  if (text == word(Verdict::allow)) return Verdict::allow;
  return text == word(Verdict::needs_approval) ? Verdict::needs_approval : Verdict::deny;
}

db::Params row_of(const Recorded& r) {
  return {crypto::uuid4(),
          to_micros(r.at),
          r.action,
          r.username,
          std::string(word(r.verdict)),
          dump_json(Json(r.rules)),
          r.policy_digest,
          r.input_digest,
          dump_json(mask_secrets(r.input))};
}

Recorded read_row(const db::Row& row) {
  Recorded out{from_micros(row.integer(0)),
               row.text(1),
               row.text(2),
               verdict_of(row.text(3)),
               {},
               row.text(5),
               row.text(6),
               {}};
  if (auto rules = parse_json(row.text(4)); rules && rules->is_array())
    for (const auto& id : *rules) out.rules.push_back(id.get<std::string>());
  if (auto input = parse_json(row.text(7))) out.input = *std::move(input);
  return out;
}

}  // namespace

Json mask_secrets(Json document) {
  if (document.is_object()) {
    for (auto& [name, value] : document.items())
      value = names_a_secret(name) && !value.is_null() ? Json(kMask) : mask_secrets(std::move(value));
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

void DecisionLog::record(const Decision& d, Time at) {
  Recorded entry{at,
                 d.action,
                 string_member(d.input.value("actor", Json::object()), "username").value_or(""),
                 d.verdict,
                 {},
                 d.policy_digest,
                 d.input_digest,
                 d.input};
  for (const auto& rule : d.rules) entry.rules.push_back(rule.id);
  bool dropped = false, first = false;
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    dropped = waiting_.size() >= kMaxWaiting;
    if (dropped) waiting_.pop_front();
    first = waiting_.empty();
    waiting_.push_back(std::move(entry));
  }
  if (first) woken_.notify_all();
  if (dropped) log::warning("policy.decision_dropped", {{"waiting", kMaxWaiting}});
}

void DecisionLog::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    woken_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (!closing_) woken_.wait_for(lock, kGather, [&] { return closing_; });
    bool last = closing_;
    lock.unlock();
    if (auto done = flush(); !done) log::error("policy.decision_log", {{"cause", done.error().message}});
    lock.lock();
    if (last) return;
  }
}

Result<void> DecisionLog::flush() {
  std::lock_guard writing(write_mutex_);
  std::deque<Recorded> batch;
  {
    std::lock_guard lock(mutex_);
    batch.swap(waiting_);
  }
  if (batch.empty()) return {};
  // Made before the transaction: while that lasts, no refusal is recorded.
  std::vector<db::Params> rows;
  std::ranges::transform(batch, std::back_inserter(rows), row_of);
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    for (const auto& row : rows)
      TRY(
          tx.exec("INSERT INTO decisions (id, at, action, username, verdict, rules, policy_digest, "
                  "input_digest, input) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                  row));
    TRY(
        tx.exec("DELETE FROM decisions WHERE at < (SELECT at FROM decisions ORDER BY at DESC, id DESC LIMIT "
                "1 OFFSET $1)",
                {kMaxDecisions - 1}));
    return {};
  });
}

Result<std::vector<Recorded>> DecisionLog::recent(std::int64_t limit) {
  TRY(flush());
  std::vector<Recorded> out;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    return tx.each(
        "SELECT at, action, username, verdict, rules, policy_digest, input_digest, input FROM decisions "
        "ORDER BY at DESC, id DESC LIMIT $1",
        {limit}, [&](const db::Row& row) -> Result<void> {
          out.push_back(read_row(row));
          return {};
        });
  }));
  return out;
}

}  // namespace dash::policy
