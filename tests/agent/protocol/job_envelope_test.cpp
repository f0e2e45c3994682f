#include "core/agent/protocol/job_envelope.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

TEST(JobEnvelope, SignsTheVectorsByteForByte) {
  auto key = crypto::ed25519_from_seed(Secret(hex_bytes(vectors()["keys"]["dashboard_ed25519_seed_hex"])));
  std::string dashboard = vectors()["keys"]["dashboard_public"];
  std::string other = vectors()["keys"]["other_public"];
  for (const auto& vector : vectors()["job_envelope"]) {
    std::string signature = vector["signature"];
    EXPECT_EQ(sign_job(key, vector["job"]), signature) << vector["name"];
    EXPECT_TRUE(is_job_signed_by(dashboard, vector["job"], signature));
    EXPECT_FALSE(is_job_signed_by(other, vector["job"], signature));
    auto changed = vector["job"];
    changed["expires_at"] = 1;
    EXPECT_FALSE(is_job_signed_by(dashboard, changed, signature)) << "a member more is signed too";
  }
}

}  // namespace
}  // namespace dash::agent
