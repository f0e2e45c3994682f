#include "core/audit/log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/audit/anchor.hpp"
#include "core/audit/prove.hpp"
#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::audit {
namespace {

Principal admin() { return {"root", true, {}, {}, Via::local, "", ""}; }

class AuditLog : public testing::Test {
 protected:
  std::int64_t append(std::string action = "login", std::string user = "alice") {
    return must(log_.append(
        {std::move(user), std::move(action), "vm-1", {{"b", 1}, {"a", "\u00e9\n"}}, "10.0.0.7", "r1"}));
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Log log_{*sql_, clock_, Secret(std::string(32, 'k'))};
};

TEST_F(AuditLog, IsGoodWhenEmptyAndWhenWritten) {
  EXPECT_EQ(dump_json(to_json(must(verify(log_, {})))).substr(0, 44),
            R"({"ok":true,"count":0,"first_broken_seq":null)");
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(append(), i);
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.count, 20);
}

TEST_F(AuditLog, GoesAwayWithTheTransactionThatItRecords) {
  append();
  auto undone = sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(log_.append(tx, {"bob", "x", std::nullopt, {}, "", ""}));
    return fail(Code::conflict, "undone");
  });
  EXPECT_FALSE(undone);
  append();
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.count, 2);
}

// Four processes with several threads each, none of which knows of the others.
TEST_F(AuditLog, KeepsOneChainUnderFourProcesses) {
  constexpr int kProcesses = 4, kThreads = 3, kEach = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      {
        auto sql = must(db::open_sqlite(scratch_ / "dashctl.db"));
        Log log(*sql, clock_, Secret(std::string(32, 'k')));
        std::vector<std::jthread> threads;
        std::atomic<int> failures = 0;
        for (int t = 0; t < kThreads; ++t)
          threads.emplace_back([&] {
            for (int i = 0; i < kEach; ++i) failures += !log.append({"u", "a", std::nullopt, {}, "", ""});
          });
        threads.clear();
        failed = failures;
      }
      ::_exit(failed);
    }
    children.push_back(child);
  }
  for (auto child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok) << dump_json(to_json(verdict));
  EXPECT_EQ(verdict.count, kProcesses * kThreads * kEach);
}

TEST_F(AuditLog, IsMarkedForEverWhenWrittenWithAnotherKey) {
  append();
  Log other(*sql_, clock_, Secret(std::string(32, 'x')));
  must(other.append({"bob", "login", std::nullopt, {}, "", ""}));
  append();
  for (auto* log : {&log_, &other}) {
    auto verdict = must(verify(*log, {}));
    EXPECT_FALSE(verdict.ok);
    EXPECT_TRUE(verdict.first_broken_seq);
  }
}

TEST_F(AuditLog, PagesNewestFirstAndFilters) {
  for (int i = 0; i < 5; ++i) append("login");
  append("cloud1:vm:deploy:denied", "bob");
  EntryFilter filter;
  filter.limit = 4;
  auto page = must(list(log_, admin(), filter));
  ASSERT_EQ(page.entries.size(), 4u);
  EXPECT_EQ(page.entries[0].seq, 6);
  EXPECT_EQ(page.next_before, 3);
  filter.before = page.next_before;
  page = must(list(log_, admin(), filter));
  EXPECT_EQ(page.entries.size(), 2u);
  EXPECT_FALSE(page.next_before);
  EntryFilter denials;
  denials.action = "cloud1:*";
  EXPECT_EQ(must(list(log_, admin(), denials)).entries.size(), 1u);
  denials.username = "alice";
  EXPECT_EQ(must(list(log_, admin(), denials)).entries.size(), 0u);
}

TEST_F(AuditLog, IsForAdminsOnly) {
  Principal bob{"bob", false, {}, {}, Via::session, "", ""};
  EXPECT_EQ(list(log_, bob, {}).error().code, Code::forbidden);
  EXPECT_EQ(export_lines(log_, bob, [](std::string_view) -> Result<void> { return {}; }).error().code,
            Code::forbidden);
}

class ExportedLog : public AuditLog {
 protected:
  ExportedLog() {
    for (int i = 0; i < 7; ++i) append();
    must(export_lines(log_, admin(), [&](std::string_view line) -> Result<void> {
      lines_.emplace_back(line);
      return {};
    }));
  }
  VerifyResult verify_lines() {
    return must(verify_entries(
        [&](const auto& take) -> Result<void> {
          for (const auto& line : lines_) TRY(take(TRY(entry_from_json(TRY(parse_json(line))))));
          return {};
        },
        {{"anchor", must(prove_inclusion(log_, 1)).checkpoint.note}}, log_.keys().checkpoint.public_key));
  }
  std::vector<std::string> lines_;
};

TEST_F(ExportedLog, VerifiesWithTheCheckpointAndThePublicKeyAlone) {
  auto verdict = verify_lines();
  EXPECT_TRUE(verdict.ok) << dump_json(to_json(verdict));
  EXPECT_EQ(verdict.checkpoint_size, 7);
  EXPECT_EQ(verdict.beyond_checkpoint, 0);
}

TEST_F(ExportedLog, ShowsAnAlteredLineAndAMissingOne) {
  auto good = lines_;
  lines_[3].replace(lines_[3].find("alice"), 5, "mAllo");
  EXPECT_EQ(verify_lines().first_broken_seq, 4);
  lines_ = good;
  lines_.pop_back();
  EXPECT_EQ(verify_lines().first_broken_seq, 7);
}

TEST_F(ExportedLog, ProvesInclusionAndConsistencyToOutsiders) {
  for (std::int64_t seq = 1; seq <= 7; ++seq) {
    auto proof = must(prove_inclusion(log_, seq));
    std::string body;
    encode_body(proof.prev_hash, proof.entry, body);
    EXPECT_TRUE(
        verify_inclusion(seq - 1, 7, hash_of(body, proof.entry.seal), proof.path, proof.checkpoint.root));
  }
  for (std::int64_t old = 0; old <= 7; ++old) {
    auto proof = must(prove_consistency(log_, old));
    EXPECT_TRUE(verify_consistency(old, 7, proof.path, proof.old_root, proof.checkpoint.root)) << old;
  }
  EXPECT_EQ(prove_inclusion(log_, 8).error().code, Code::not_found);
  EXPECT_EQ(prove_consistency(log_, 8).error().code, Code::not_found);
}

TEST(Checkpoint, IsASignedNoteThatNobodyElseCanMake) {
  auto key = crypto::ed25519_from_seed(Secret(std::string(32, 's')));
  auto other = crypto::ed25519_from_seed(Secret(std::string(32, 't')));
  auto made = sign_checkpoint(key, 3, crypto::sha256("root"), crypto::sha256("last"), FakeClock().now());
  auto parsed = must(parse_checkpoints(made.note + "\n" + made.note, key.public_key));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[1].size, 3);
  EXPECT_EQ(parsed[1].root, made.root);
  EXPECT_EQ(parsed[1].entry_hash, made.entry_hash);
  EXPECT_EQ(parsed[1].made_at, "2026-07-03T14:00:00Z");
  EXPECT_FALSE(parse_checkpoints(made.note, other.public_key));
  for (std::size_t i = 0; i < made.note.size(); ++i) {
    auto bent = made.note;
    bent[i] = static_cast<char>(bent[i] ^ 1);
    auto result = parse_checkpoints(bent, key.public_key);
    EXPECT_TRUE(!result || result->empty() || result->at(0).note != bent) << i;
  }
  EXPECT_EQ(must(parse_verifier_key(verifier_key(key.public_key) + "\n")), key.public_key);
  EXPECT_FALSE(parse_verifier_key("dashctl+00000000+AQ=="));
}

class AnchoredLog : public AuditLog {
 protected:
  std::string outside() {
    std::ifstream in(scratch_ / "anchor");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::unique_ptr<Anchor>> places(bool with_outside = true) {
    std::vector<std::unique_ptr<Anchor>> out;
    out.push_back(local_anchor(scratch_ / "own"));
    if (with_outside) out.push_back(file_anchor(scratch_ / "anchor"));
    return out;
  }
  std::size_t notes() { return must(parse_checkpoints(outside(), log_.keys().checkpoint.public_key)).size(); }
};

TEST_F(AnchoredLog, IsSignedAtShutdownAndEveryThousandEntries) {
  {
    AnchorSet anchors(log_, places());
    append();
    anchors.tick();
    EXPECT_EQ(notes(), 1u);
    append();
    anchors.tick();
    EXPECT_EQ(notes(), 1u);
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      for (int i = 0; i < kCheckpointInterval; ++i)
        TRY(log_.append(tx, {"u", "a", std::nullopt, {}, "", ""}));
      return {};
    }));
    anchors.tick();
    EXPECT_EQ(notes(), 2u);
    append();
  }
  EXPECT_EQ(notes(), 3u);
  AnchorSet again(log_, places());
  auto verdict = must(verify(log_, again.read()));
  EXPECT_TRUE(verdict.ok) << dump_json(to_json(verdict));
  EXPECT_EQ(verdict.beyond_checkpoint, 0);
}

TEST_F(AnchoredLog, KeepsTheEvidenceWhenItIsRolledBackAndGoesOn) {
  append();
  std::filesystem::copy(scratch_ / "dashctl.db", scratch_ / "older.db");
  auto older = must(db::open_sqlite(scratch_ / "older.db"));
  must(db::migrate_schema(*older));
  for (int i = 0; i < 3; ++i) append();
  { AnchorSet anchors(log_, places(false)); }
  Log rolled_back(*older, clock_, Secret(std::string(32, 'k')));
  for (int i = 0; i < 9; ++i) must(rolled_back.append({"eve", "x", std::nullopt, {}, "", ""}));
  AnchorSet anchors(rolled_back, places(false));
  anchors.flush();
  EXPECT_FALSE(must(verify(rolled_back, anchors.read())).ok);
}

}  // namespace
}  // namespace dash::audit
