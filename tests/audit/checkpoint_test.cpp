#include "core/audit/checkpoint.hpp"

#include <gtest/gtest.h>

#include "core/audit/anchor.hpp"
#include "core/audit/log.hpp"
#include "core/crypto/hash.hpp"
#include "tests/audit/audit_fixture.hpp"

namespace dash::audit {
namespace {

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

}  // namespace
}  // namespace dash::audit
