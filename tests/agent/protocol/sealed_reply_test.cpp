#include "core/agent/protocol/sealed_reply.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

struct Seal {
  SealBinding binding;
  crypto::X25519Key key;
  Json sealed;
};

Seal seal_of(const Json& vector) {
  return {{vector["agent_id"], vector["audience"], vector["job_id"], vector["ref"]},
          crypto::x25519_from_private(Secret(hex_bytes(vector["reply_private_hex"]))),
          vector["sealed"]};
}

TEST(SealedReply, OpensTheSealsOfADeployedDashboard) {
  for (const auto& vector : vectors()["transport_seal"]["seals"]) {
    auto seal = seal_of(vector);
    EXPECT_EQ(must(open_reply(seal.sealed, seal.key, seal.binding)).expose(),
              vector["secret"].get<std::string>())
        << vector["name"];
  }
}

void change(Seal& seal, const Json& changes) {
  for (const auto& [name, value] : changes.items()) {
    if (name == "sealed")
      seal.sealed.update(value);
    else if (name == "reply_private_hex")
      seal.key = crypto::x25519_from_private(Secret(hex_bytes(value)));
    else if (name == "agent_id")
      seal.binding.agent_id = value;
    else if (name == "audience" || name == "aud")
      seal.binding.audience = value;
    else if (name == "job_id")
      seal.binding.job_id = value;
    else if (name == "ref")
      seal.binding.ref = value;
    else
      FAIL() << "the vectors change a member that this test does not know: " << name;
  }
}

TEST(SealedReply, OpensAndRefusesAsTheVectorsSay) {
  for (const auto& vector : vectors()["transport_seal"]["open"]) {
    Seal seal;
    for (const auto& of : vectors()["transport_seal"]["seals"])
      if (of["name"] == vector["of"]) seal = seal_of(of);
    change(seal, vector["changed"]);
    EXPECT_EQ(open_reply(seal.sealed, seal.key, seal.binding).has_value(), vector["opens"].get<bool>())
        << vector["name"];
  }
}

TEST(SealedReply, TakesTheReplyKeysThatTheVectorsTake) {
  for (const auto& vector : vectors()["transport_seal"]["reply_key"]) {
    auto key = read_reply_key(vector["reply_key"].get<std::string>());
    EXPECT_EQ(key.has_value(), vector["checked"].get<bool>()) << vector["name"];
    bool seals = key && seal_reply(Secret("s"), *key, {"a", "u", "j", "r"});
    EXPECT_EQ(seals, vector["seals"].get<bool>()) << vector["name"];
  }
}

TEST(SealedReply, OpensWhatItSealed) {
  auto key = crypto::new_x25519_key();
  SealBinding binding{"agent", "https://dash.example.test", "job", "lab"};
  Json sealed = must(parse_json(dump_json(must(seal_reply(Secret("päss"), key.public_key, binding)))));
  EXPECT_EQ(must(open_reply(sealed, key, binding)).expose(), "päss");
  binding.job_id = "another";
  EXPECT_EQ(open_reply(sealed, key, binding).error().code, Code::integrity);
}

}  // namespace
}  // namespace dash::agent
