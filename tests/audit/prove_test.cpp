#include "core/audit/prove.hpp"

#include <gtest/gtest.h>

#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/crypto/hash.hpp"
#include "tests/audit/audit_fixture.hpp"

namespace dash::audit {
namespace {

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

}  // namespace
}  // namespace dash::audit
