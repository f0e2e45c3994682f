#include "core/identity/directory.hpp"

#include <gtest/gtest.h>

#include "tests/support/identity_fixture.hpp"

namespace dash::identity {
namespace {

using Directory_ = Identity;

TEST_F(Directory_, IsSetUpWithItsFirstActiveAdmin) {
  EXPECT_FALSE(directory_.is_set_up().value());
  add("bob");
  EXPECT_FALSE(directory_.is_set_up().value());
  add("alice", true);
  EXPECT_TRUE(directory_.is_set_up().value());
}

TEST_F(Directory_, KeepsItsLastAdmin) {
  add("alice", true);
  auto disable = [&](db::Transaction& tx) { return directory_.set_active(tx, "alice", false); };
  auto demote = [&](db::Transaction& tx) { return directory_.set_admin(tx, "alice", false); };
  for (const db::TransactionFn& change : {db::TransactionFn(disable), db::TransactionFn(demote)}) {
    auto refused = in_write(change);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
  }
  EXPECT_TRUE(directory_.find("alice").value()->is_admin);
  add("second", true);
  EXPECT_TRUE(in_write(demote));
}

TEST_F(Directory_, DisablesAUserBeforeThereIsAnAdmin) {
  add("bob");
  EXPECT_TRUE(in_write([&](db::Transaction& tx) { return directory_.set_active(tx, "bob", false); }));
}

TEST_F(Directory_, MakesTheWorkgroupsOfANewUser) {
  must(try_add({"Bob ", kPassword, false, {"change_windows:use"}, {"team-a", "team-b"}}));
  auto bob = directory_.find("BOB").value();
  ASSERT_TRUE(bob);
  EXPECT_EQ(bob->username, "bob");
  EXPECT_EQ(bob->workgroups, (std::vector<std::string>{"team-a", "team-b"}));
  EXPECT_EQ(bob->grants, (std::vector<std::string>{"change_windows:use"}));
}

TEST_F(Directory_, FoldsTheWorkgroupsOfANewUser) {
  must(try_add({"bob", kPassword, false, {}, {" Team-A"}}));
  EXPECT_EQ(directory_.find("bob").value()->workgroups, (std::vector<std::string>{"team-a"}));
}

TEST_F(Directory_, WantsEightCharactersOfANewPassword) {
  for (auto shorter : {"", "1234567", "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc"})
    EXPECT_EQ(try_add({"ann", Secret(shorter), false, {}, {}}).error().code, Code::invalid) << shorter;
  EXPECT_TRUE(try_add({"ann", Secret("12345678"), false, {}, {}}));
  EXPECT_TRUE(check_password(Secret("\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df")));
}

TEST_F(Directory_, RefusesWhatIsNoPermission) {
  add("ann");
  for (auto wrong : {"", "admin", "jobs:", ":read", "jobs:read:all", "Jobs:read", "jobs: read"}) {
    EXPECT_EQ(try_add({"eve", kPassword, false, {wrong}, {}}).error().code, Code::invalid) << wrong;
    auto granted = in_write([&](db::Transaction& tx) { return directory_.grant(tx, "ann", wrong); });
    EXPECT_EQ(granted.error().code, Code::invalid) << wrong;
  }
}

TEST_F(Directory_, RefusesBadNamesAndDuplicates) {
  add("bob");
  EXPECT_EQ(try_add({"bob", kPassword, false, {}, {}}).error().code, Code::conflict);
  for (auto wrong : {"", "a b", "caf\u00e9", "a/b", "a:b", "a\u202eb", "a*b"})
    EXPECT_EQ(try_add({wrong, kPassword, false, {}, {}}).error().code, Code::invalid) << wrong;
  EXPECT_EQ(try_add({std::string(101, 'a'), kPassword, false, {}, {}}).error().code, Code::invalid);
  EXPECT_EQ(try_add({"eve", kPassword, false, {}, {"Bad Name"}}).error().code, Code::invalid);
  EXPECT_FALSE(directory_.find("eve").value());
  for (const auto& right : {std::string("a"), std::string(100, 'a'), std::string("A.b_c@d+e-1")})
    EXPECT_TRUE(try_add({right, kPassword, false, {}, {}})) << right;
}

// Made before names were plain ASCII and passwords had a least length.
TEST_F(Directory_, KeepsAccountsOfBefore) {
  must(in_write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(INSERT INTO users (username, password_hash, is_admin, is_active, created_at)
                   VALUES ($1, $2, 1, 1, 0))",
                {"jos\u00e9:ops", crypto::hash_password(Secret("pw"))}));
    return {};
  }));
  EXPECT_TRUE(login("Jos\u00e9:ops", Secret("pw")));
  EXPECT_TRUE(issue({"ci", "jos\u00e9:ops", 0}));
}

}  // namespace
}  // namespace dash::identity
