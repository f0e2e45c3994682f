#include "core/audit/anchor.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/audit/prove.hpp"
#include "core/audit/verify.hpp"
#include "tests/audit/audit_fixture.hpp"

namespace dash::audit {
namespace {

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
