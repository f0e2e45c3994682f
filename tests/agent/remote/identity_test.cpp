#include "core/agent/remote/identity.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "tests/agent/protocol/vectors.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

Identity sample(char seed = 's') {
  Identity identity;
  identity.agent_id = "a-1";
  identity.key = crypto::ed25519_from_seed(Secret(std::string(32, seed)));
  identity.dashboard_public_key = crypto::to_base64(std::string(32, 'd'));
  identity.audience = "https://dash.example.test";
  return identity;
}

TEST(AgentIdentity, IsKeptOnceAndPrivately) {
  Scratch scratch;
  must(save_identity(scratch.path(), sample()));
  struct stat info {};
  ASSERT_EQ(::stat((scratch / "identity.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(save_identity(scratch.path(), sample('t')).error().code, Code::conflict);
  auto loaded = must(load_identity(scratch.path()));
  EXPECT_EQ(loaded.key.public_key, sample().key.public_key);
  EXPECT_EQ(loaded.audience, "https://dash.example.test");
}

TEST(AgentIdentity, ReadsTheFileOfADeployedAgent) {
  Scratch scratch;
  must(write_file(scratch / "identity.json", agent_behaviour()["identity_json"]["text"].get<std::string>(),
                  0600));
  auto loaded = must(load_identity(scratch.path()));
  EXPECT_EQ(loaded.agent_id, "11f409dc-3035-47d6-9425-dda7d0772057");
  EXPECT_EQ(crypto::to_hex(loaded.key.seed.expose()),
            vectors()["keys"]["agent_ed25519_seed_hex"].get<std::string>());
  EXPECT_EQ(loaded.url, "");
}

TEST(AgentIdentity, IsNeverReplacedWhenItCannotBeRead) {
  Scratch scratch;
  EXPECT_EQ(load_identity(scratch.path()).error().code, Code::not_found);
  for (const auto* text : {"", "{", "[]", "{}", R"({"agent_id":"a","private_key":"short"})"}) {
    must(write_file(scratch / "identity.json", text, 0600));
    EXPECT_EQ(load_identity(scratch.path()).error().code, Code::usage) << text;
  }
}

TEST(StateFolder, IsProvenBeforeACodeIsSpent) {
  Scratch scratch;
  must(probe_state_folder(scratch / "new/state"));
  must(write_file(scratch / "file", "", 0600));
  EXPECT_EQ(probe_state_folder(scratch / "file").error().code, Code::usage);
}

TEST(StateFolder, HasOneAgentAtATime) {
  Scratch scratch;
  auto held = must(lock_state_folder(scratch.path()));
  EXPECT_EQ(lock_state_folder(scratch.path()).error().code, Code::conflict);
  held = Fd();
  EXPECT_TRUE(lock_state_folder(scratch.path()));
}

TEST(SealedPassword, OpensWithTheKeyThatSealedItAlone) {
  auto sealed = seal_password(sample(), Secret("hunter2-hunter2"));
  EXPECT_TRUE(sealed.starts_with("sealed:"));
  EXPECT_EQ(must(open_sealed_password(sample(), sealed)).expose(), "hunter2-hunter2");
  EXPECT_NE(seal_password(sample(), Secret("hunter2-hunter2")), sealed);
  EXPECT_FALSE(open_sealed_password(sample('t'), sealed));
  EXPECT_FALSE(open_sealed_password(sample(), sealed + "A"));
  EXPECT_FALSE(open_sealed_password(sample(), "sealed:"));
}

}  // namespace
}  // namespace dash::agent
