// The tamper matrix: which changes an attacker can make unnoticed. The printed table is in
// docs/tamper-matrix.md.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/audit/anchor.hpp"
#include "core/audit/verify.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::audit {
namespace {

constexpr std::int64_t kEntries = 9;
constexpr std::int64_t kAnchored = 6;  // entries that the external checkpoint covers

// Both tables, as an attacker with the database sees them.
struct Tables {
  std::vector<LogEntry> entries;
  std::optional<db::Row> head;
};

Tables load(db::Transaction& tx) {
  Tables out;
  for (const auto& row : must(tx.query(std::string(kSelectEntries) + "ORDER BY seq")))
    out.entries.push_back(entry_from_row(row).value());
  auto head = must(tx.query("SELECT count, entry_hash, frontier, tainted_at, mac FROM audit_head"));
  if (!head.empty()) out.head = head[0];
  return out;
}

void store(db::Transaction& tx, const Tables& tables) {
  must(tx.exec("DELETE FROM audit_log"));
  must(tx.exec("DELETE FROM audit_head"));
  for (const auto& e : tables.entries)
    must(tx.exec("INSERT INTO audit_log VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                 {e.seq, e.at, e.username, e.action, e.target ? db::Value(*e.target) : db::Value(nullptr),
                  e.details, e.address, e.request_id, db::Blob{e.seal}, db::Blob{e.entry_hash}}));
  if (const auto& h = tables.head)
    must(tx.exec("INSERT INTO audit_head VALUES (1, $1, $2, $3, $4, $5)",
                 {h->integer(0), h->text(1), h->text(2), h->integer(3), h->text(4)}));
}

db::Row pristine_head() {
  return db::Row({std::int64_t{0}, std::string(), std::string(), std::int64_t{0}, std::string()});
}

// What the attacker wants in the log; `first_bad` is the entry that verify should name (nullopt: no entry is
// bad).
struct Attack {
  std::string name;
  Tables wanted;
  std::optional<std::int64_t> first_bad;
  bool raw_only = false;  // sealing it anew would be another attack of the list, or undo it
};

bool same_content(const LogEntry& a, const LogEntry& b) {
  return std::tie(a.seq, a.at, a.username, a.action, a.target, a.details, a.address, a.request_id) ==
         std::tie(b.seq, b.at, b.username, b.action, b.target, b.details, b.address, b.request_id);
}

class TamperMatrix : public testing::Test {
 protected:
  TamperMatrix() {
    for (std::int64_t i = 1; i <= kEntries; ++i) {
      must(log_.append({"user" + std::to_string(i),
                        "cloud1:vm:deploy:denied",
                        i % 2 ? std::optional("vm-" + std::to_string(i)) : std::nullopt,
                        {{"reasons", {"region \"r" + std::to_string(i) + "\" is not in the allowed list"}}},
                        "10.0.0.7",
                        "req"}));
      clock_.advance(std::chrono::seconds(1));
      if (i == kAnchored) external_ = checkpoint();
      history_.push_back(read_tables());
    }
    own_ = checkpoint();
  }

  std::string checkpoint() {
    return db::read<std::string>(*sql_,
                                 [&](db::Transaction& tx) -> Result<std::string> {
                                   auto head = must(read_head(tx, log_.keys())).value();
                                   return sign_checkpoint(log_.keys().checkpoint, head.count,
                                                          head.frontier.root(), head.entry_hash, clock_.now())
                                       .note;
                                 })
        .value();
  }
  Tables read_tables() {
    return db::read<Tables>(*sql_, [&](db::Transaction& tx) -> Result<Tables> { return load(tx); }).value();
  }

  // Puts `wanted` in place, verifies, and undoes it.
  VerifyResult verify_as(const Tables& wanted, const std::vector<AnchorText>& anchors) {
    std::optional<VerifyResult> verdict;
    auto undone = sql_->write([&](db::Transaction& tx) -> Result<void> {
      store(tx, wanted);
      verdict = must(verify(tx, log_.keys(), anchors));
      return fail(Code::conflict, "undo");
    });
    EXPECT_EQ(undone.error().code, Code::conflict) << undone.error().detail;
    return verdict.value();
  }

  // The same entries, numbered, chained and sealed anew with `key`: the real one, or one that the attacker
  // made up.
  Tables chained_again(const Tables& wanted, const Secret& key) {
    Tables out;
    auto undone = sql_->write([&](db::Transaction& tx) -> Result<void> {
      store(tx, {{}, pristine_head()});
      FakeClock clock;
      Log forger(*sql_, clock, key);
      for (const auto& e : wanted.entries) {
        clock.set(format_iso_micros(from_micros(e.at)));
        must(forger.append(tx, {e.username, e.action, e.target,
                                OrderedJson(parse_json(e.details).value_or(Json{{"x", e.details}})),
                                e.address, e.request_id}));
      }
      out = load(tx);
      return fail(Code::conflict, "undo");
    });
    return out;
  }

  std::vector<Attack> attacks() {
    const auto now = history_.back();
    std::vector<Attack> out;
    for (std::size_t i = 0; i < now.entries.size(); ++i) {
      auto seq = static_cast<std::int64_t>(i) + 1;
      add_flips(out, now, i);
      auto t = now;
      t.entries.erase(t.entries.begin() + static_cast<std::ptrdiff_t>(i));
      // Without the last entry the log is a shorter log.
      out.push_back({"delete an entry", t, seq});
      t = now;
      t.entries.resize(i);
      out.push_back({"cut the tail", t, seq});
      t = now;
      t.entries[i].username = "mallory";
      out.push_back({"rewrite the tail", t, seq});
      t = now;
      t.entries.push_back(t.entries[i]);
      t.entries.back().seq = kEntries + 1;
      out.push_back({"duplicate an entry", t, kEntries + 1});
      if (i + 1 < now.entries.size()) {
        t = now;
        std::swap(t.entries[i], t.entries[i + 1]);
        std::swap(t.entries[i].seq, t.entries[i + 1].seq);
        out.push_back({"swap two entries", t, seq});
        out.push_back({"older copy of the database", history_[i], seq + 1});
      }
    }
    out.push_back({"delete the whole log", {{}, now.head}, 1});
    out.push_back({"delete the whole log", {{}, pristine_head()}, 1});
    out.push_back({"delete the whole log", {{}, std::nullopt}, 1});
    add_head_flips(out, now);
    return out;
  }

  static void add_flips(std::vector<Attack>& out, const Tables& now, std::size_t i) {
    auto seq = static_cast<std::int64_t>(i) + 1;
    auto flip = [&](auto change, bool raw_only) {
      auto t = now;
      change(t.entries[i]);
      out.push_back({"flip one byte of an entry", t, seq, raw_only});
    };
    for (int byte = 0; byte < 8; ++byte)
      flip([&](LogEntry& e) { e.at ^= std::int64_t{1} << (8 * byte); }, byte > 0);
    using Field = std::string LogEntry::*;
    for (Field field : {&LogEntry::username, &LogEntry::action, &LogEntry::details, &LogEntry::address,
                        &LogEntry::request_id, &LogEntry::seal, &LogEntry::entry_hash})
      for (std::size_t byte = 0; byte < (now.entries[i].*field).size(); ++byte)
        flip([&](LogEntry& e) { (e.*field)[byte] = static_cast<char>((e.*field)[byte] ^ 1); },
             byte > 0 || field == &LogEntry::seal || field == &LogEntry::entry_hash);
    flip([](LogEntry& e) { e.target = e.target ? std::nullopt : std::optional(std::string()); }, false);
    // A number with a flipped bit leaves a hole, or occurs twice; the hole is at its place, or after it.
    auto t = now;
    t.entries[i].seq = seq + 1024;
    out.push_back({"flip one byte of an entry", t, seq, true});
  }

  static void add_head_flips(std::vector<Attack>& out, const Tables& now) {
    const auto& h = now.head.value();
    for (std::size_t column = 0; column < 5; ++column) {
      db::Params values = {h.integer(0), h.text(1), h.text(2), h.integer(3), h.text(4)};
      if (auto* text = std::get_if<std::string>(&values[column]))
        (*text)[0] = (*text)[0] == 'a' ? 'b' : 'a';
      else
        std::get<std::int64_t>(values[column]) ^= 1;
      out.push_back({"flip one byte of the head row", {now.entries, db::Row(values)}, std::nullopt, true});
    }
  }

  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Secret key_{std::string(32, 'k')};
  Log log_{*sql_, clock_, key_};
  std::string own_, external_;
  std::vector<Tables> history_;
};

struct Cell {
  int cases = 0, detected = 0, named = 0;
  std::string text() const {
    if (cases == 0) return "-";
    if (detected == 0) return fmt::format("0/{}", cases);
    return fmt::format("{}/{}, named {}", detected, cases, named);
  }
};

// An attacker with the database only: raw edits, and the chain made consistent again without the key, with
// the old head row or a new one; the instance's own checkpoint file is out of reach. An attacker with the
// keys too: everything is sealed and signed again, the own checkpoint file included.
TEST_F(TamperMatrix, IsAsItsPageSays) {
  std::vector<std::string> order;
  std::map<std::string, std::array<Cell, 5>> rows;
  AnchorText own{"own", own_}, external{"external", external_};
  auto judge = [&](Cell& cell, const Attack& attack, const Tables& tables,
                   const std::vector<AnchorText>& anchors, bool exact) {
    auto verdict = verify_as(tables, anchors);
    ++cell.cases;
    cell.detected += !verdict.ok;
    // A checkpoint by itself brackets: it names the first entry of the stretch that it contradicts.
    bool named = exact
                     ? verdict.first_broken_seq == attack.first_bad
                     : verdict.first_broken_seq && *verdict.first_broken_seq <= attack.first_bad.value_or(1);
    cell.named += !verdict.ok && named;
    if (!verdict.ok && !named)
      ADD_FAILURE() << attack.name << " expected " << attack.first_bad.value_or(-1) << " got "
                    << verdict.first_broken_seq.value_or(-1) << ": " << dump_json(to_json(verdict));
  };
  const Secret made_up(std::string(32, 'm'));
  for (const auto& attack : attacks()) {
    if (!rows.contains(attack.name)) order.push_back(attack.name);
    auto& row = rows[attack.name];
    judge(row[0], attack, attack.wanted, {own}, true);
    judge(row[1], attack, attack.wanted, {own, external}, true);
    if (attack.raw_only) continue;
    auto again = chained_again(attack.wanted, made_up);
    // What did not change keeps its true seal; only the rest has to be forged.
    const auto& now = history_.back().entries;
    for (std::size_t i = 0;
         i < std::min(now.size(), again.entries.size()) && same_content(again.entries[i], now[i]); ++i)
      again.entries[i] = now[i];
    for (const auto& head : {again.head, history_.back().head}) {
      judge(row[0], attack, {again.entries, head}, {own}, true);
      judge(row[1], attack, {again.entries, head}, {own, external}, true);
    }
    auto sealed = chained_again(attack.wanted, key_);
    judge(row[2], attack, sealed, {}, false);
    bool covered = attack.first_bad.value_or(1) <= kAnchored;
    judge(row[covered ? 3 : 4], attack, sealed, {external}, false);
  }
  std::ostringstream table;
  table << "| Attack | database | database, checkpoint | keys | keys, up to it | keys, after it |\n"
           "|---|---|---|---|---|---|\n";
  for (const auto& name : order) {
    const auto& row = rows[name];
    table << "| " << name;
    for (const auto& cell : row) table << " | " << cell.text();
    table << " |\n";
    for (auto column : {0u, 1u, 3u}) EXPECT_EQ(row[column].detected, row[column].cases) << name << column;
    EXPECT_EQ(row[2].detected + row[4].detected, 0) << name;
  }
  auto text_of = [](const char* path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_NE(text_of(DASH_TESTDATA "/../docs/tamper-matrix.md").find(table.str()), std::string::npos)
      << table.str();
  EXPECT_NE(text_of(DASH_TESTDATA "/../README.md").find("docs/tamper-matrix.md"), std::string::npos);
}

TEST_F(TamperMatrix, TellsHowManyEntriesOnlyTheSealsVouchFor) {
  auto verdict = verify_as(history_.back(), {{"external", external_}});
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.checkpoint_size, kAnchored);
  EXPECT_EQ(verdict.beyond_checkpoint, kEntries - kAnchored);
}

TEST_F(TamperMatrix, BracketsARewriteBetweenTheCheckpointsOfAnAnchor) {
  auto wanted = history_.back();
  wanted.entries[7].username = "mallory";
  auto verdict = verify_as(chained_again(wanted, key_), {{"external", external_ + "\n" + own_}});
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.first_broken_seq, kAnchored + 1);
  EXPECT_EQ(verdict.checkpoint_size, kAnchored);
}

// Rolling the tables back and going on must not wash the log clean.
TEST_F(TamperMatrix, StaysBrokenWhenTheInstanceGoesOnAfterwards) {
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    auto cut = history_.back();
    cut.entries.resize(4);
    store(tx, cut);
    return {};
  }));
  must(log_.append({"bob", "login", std::nullopt, {}, "", ""}));
  must(log_.append({"bob", "login", std::nullopt, {}, "", ""}));
  auto verdict = must(verify(log_, {}));
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.first_broken_seq, 5);
}

}  // namespace
}  // namespace dash::audit
