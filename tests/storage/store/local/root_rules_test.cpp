#include "core/storage/store/local/root_rules.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage::local {
namespace {

namespace fs = std::filesystem;

class LocalRoot : public ::testing::Test {
 protected:
  LocalRoot() {
    for (auto name : {"data/policy", "data/deploy", "data/assets", "store", "rules", "keys/sub", "safe"})
      fs::create_directories(scratch_ / name);
    std::ofstream(scratch_ / "keys/signing.key") << "k";
  }
  RootOptions options() const {
    return {scratch_ / "data",
            {scratch_ / "rules", scratch_ / "data/deploy"},
            {scratch_ / "keys/signing.key"},
            {}};
  }
  // "" when the folder may be a root.
  std::string refusal(const std::string& path, const RootOptions& options) const {
    auto checked = RootRules(options).check(path);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, Code::invalid) << path;
    return checked.error().message;
  }
  std::string refusal(const std::string& path) const { return refusal(path, options()); }
  bool is_refused(const std::string& path) const { return !refusal(path).empty(); }
  std::string at(std::string_view name) const { return scratch_ / name; }
  void link(const std::string& target, std::string_view name) const { fs::create_symlink(target, at(name)); }

  Scratch scratch_;
};

}  // namespace

TEST_F(LocalRoot, MayBeAFolderOfItsOwnThereOrNotYet) {
  for (auto name :
       {"store", "store/deeper", "new", "new/deeper/still", "store/", "store/./x", "keys/sub", "safe"})
    EXPECT_EQ(refusal(at(name)), "");
  EXPECT_EQ(refusal("/srv/dashctl/assets"), "");
  EXPECT_EQ(refusal("/home/nobody-of-this-machine/assets"), "");
  EXPECT_EQ(refusal("/var/lib/dashctl-assets"), "");
}

TEST_F(LocalRoot, IsNoFolderOfTheSystemNorAnythingInIt) {
  for (auto path : {"/proc",
                    "/proc/self/fd",
                    "/sys",
                    "/sys/kernel",
                    "/dev",
                    "/dev/shm",
                    "/boot",
                    "/boot/x",
                    "/etc",
                    "/etc/",
                    "//etc",
                    "/etc/ssl/private",
                    "/etc/none/at/all",
                    "/usr",
                    "/usr/local/share/assets",
                    "/bin",
                    "/sbin",
                    "/lib",
                    "/lib64",
                    "/lib/x86_64-linux-gnu",
                    "/usr/../etc",
                    "/tmp/../etc",
                    "/etc/passwd"})
    EXPECT_TRUE(is_refused(path)) << path;
}

TEST_F(LocalRoot, IsNoFolderThatOthersUseTooWhileWhatLiesBeneathMayBe) {
  for (auto path : {"/", "//", "/.", "/root", "/home", "/var", "/var/lib", "/run", "/tmp", "/tmp/", "/opt",
                    "/srv", "/home/somebody", "/home/somebody/", "/proc/self/root"})
    EXPECT_TRUE(is_refused(path)) << path;
  for (auto path : {"/opt/assets", "/var/assets", "/run/assets", "/home/somebody/assets"})
    EXPECT_EQ(refusal(path), "") << path;
  EXPECT_TRUE(is_refused(home_folder()));
  EXPECT_TRUE(is_refused(account_home()));
}

TEST_F(LocalRoot, IsNoFolderWithKeysOfAnybody) {
  fs::create_directories(at("ann/.ssh/old"));
  link(at("ann/.ssh"), "innocent");
  for (auto name : {"ann/.ssh", "ann/.ssh/", "ann/.ssh/old", "ann/.ssh/new", "bob/.ssh/x", "innocent",
                    "innocent/old", "ann/.SSH/x", "ann/.ssh/../assets"})
    EXPECT_TRUE(is_refused(at(name))) << name;
  EXPECT_FALSE(is_refused(at("ann/.sshfs")));
  EXPECT_FALSE(is_refused(at("ann/ssh")));
}

TEST_F(LocalRoot, IsNothingOfTheDataFolderButAssets) {
  for (auto name : {"data", "data/", "data/policy", "data/deploy", "data/deploy/job", "data/none",
                    "data/assets2", "data/none/assets", "store/../data", ""})
    EXPECT_TRUE(is_refused(at(name))) << name;
  EXPECT_TRUE(is_refused(scratch_.path()));
  for (auto name : {"data/assets", "data/assets/", "data/assets/web", "data/../data/assets"})
    EXPECT_EQ(refusal(at(name)), "") << name;
  fs::remove_all(at("data/assets"));
  EXPECT_EQ(refusal(at("data/assets")), "");
  EXPECT_EQ(refusal(at("data/assets/web")), "");
  link(at("data/deploy"), "data/assets");
  EXPECT_TRUE(is_refused(at("data/assets")));
  EXPECT_TRUE(is_refused(at("data/assets/x")));
  fs::remove(at("data/assets"));
  link(".", "data/assets");
  EXPECT_TRUE(is_refused(at("data/assets")));
  fs::remove(at("data/assets"));
  link(at("store"), "data/assets");
  EXPECT_FALSE(is_refused(at("data/assets"))) << "a folder elsewhere, named through a link";
}

TEST_F(LocalRoot, IsNotBesideRulesExecutorsOrSecrets) {
  for (auto name : {"rules", "rules/x", "rules/not/yet", "keys"}) EXPECT_TRUE(is_refused(at(name))) << name;
  EXPECT_FALSE(is_refused(at("keys/sub")));
  link(at("safe/real.key"), "keys/linked.key");
  std::ofstream(at("safe/real.key")) << "k";
  auto linked = options();
  linked.secret_files = {at("keys/linked.key")};
  EXPECT_NE(refusal(at("safe"), linked), "") << "where the key really lies";
  EXPECT_NE(refusal(at("keys"), linked), "");
  auto holds_rules = options();
  holds_rules.program_folders = {at("store/rules-not-there-yet")};
  EXPECT_NE(refusal(at("store"), holds_rules), "");
  EXPECT_NE(refusal(at("store/rules-not-there-yet/x"), holds_rules), "");
  EXPECT_EQ(refusal(at("store/other"), holds_rules), "");
}

TEST_F(LocalRoot, IsTheSameFolderByWhateverLinkItIsNamed) {
  link("/etc", "link");
  link("/", "top");
  link(at("data"), "again");
  link(at("link"), "twice");
  link(at("store"), "honest");
  for (auto name : {"link", "link/ssl", "link/", "link/none", "top", "top/etc", "top/tmp", "again",
                    "again/policy", "twice"})
    EXPECT_TRUE(is_refused(at(name))) << name;
  EXPECT_FALSE(is_refused(at("honest")));
  EXPECT_FALSE(is_refused(at("again/assets")));
}

TEST_F(LocalRoot, LiesWhereTheOperatorAllowsWhenHeSaysWhere) {
  auto only = [&](const std::string& roots) {
    auto limited = options();
    limited.allowed = roots;
    return limited;
  };
  EXPECT_EQ(refusal(at("store"), only(at("store"))), "");
  EXPECT_EQ(refusal(at("store/x/y"), only(at("safe") + ":" + at("store") + "/")), "");
  EXPECT_EQ(refusal(at("later/x"), only(at("later"))), "");
  EXPECT_NE(refusal(at("safe"), only(at("store"))), "");
  EXPECT_NE(refusal(at("storex"), only(at("store"))), "");
  EXPECT_NE(refusal(at("later2"), only(at("later"))), "");
  EXPECT_NE(refusal(at("store"), only(":")), "");
  EXPECT_NE(refusal(at("data"), only(at("data"))), "") << "it never lifts a refusal";
  EXPECT_NE(refusal("/etc/ssl", only("/")), "");
  EXPECT_NE(refusal("/etc", only("/etc")), "");
  link(at("store"), "named");
  EXPECT_EQ(refusal(at("store/x"), only(at("named"))), "");
}

TEST_F(LocalRoot, IsAnAbsolutePathThatCanBeFollowed) {
  for (std::string path : {"assets", "./assets", "~/assets", "", "../etc"})
    EXPECT_TRUE(is_refused(path)) << path;
  EXPECT_TRUE(is_refused(std::string("/tmp/x\0/etc", 10)));
  EXPECT_TRUE(is_refused("/tmp/x\n"));
  EXPECT_TRUE(is_refused(at("none/../../etc"))) << "what comes to stand there decides where it leads";
}

TEST_F(LocalRoot, IsJudgedAgainWhenAnotherFolderAnswersToThePath) {
  RootRules rules(options());
  FakeClock clock;
  auto path = at("later");
  auto store = make_file_store(must(open_folder_tree(path, &rules)), clock);
  fs::create_directories(path);
  std::ofstream(path + "/a.yml") << "x";
  EXPECT_EQ(must(store->list("", "")).objects.size(), 1u);
  fs::remove_all(path);
  link(at("data"), "later");
  auto refused = store->list("", "").error();
  EXPECT_EQ(refused.code, Code::upstream);
  EXPECT_NE(refused.message.find("data folder"), std::string::npos) << refused.message;
  EXPECT_EQ(store->head("signing.key").error().code, Code::upstream);
  EXPECT_EQ(store->put("a.yml", "x", {}).error().code, Code::upstream);
  EXPECT_FALSE(fs::exists(at("data/a.yml")));
  fs::remove(path);
  fs::create_directories(path);
  must(store->put("a.yml", "x", {}));
}

TEST_F(LocalRoot, IsMadeOnlyWhereItMayBe) {
  RootRules rules(options());
  FakeClock clock;
  auto store = make_file_store(must(open_folder_tree(at("mount/assets"), &rules)), clock);
  link(at("data"), "mount");
  fs::remove_all(at("data/assets"));
  fs::remove_all(at("data"));
  fs::create_directories(at("data"));
  must(store->put("a.yml", "x", {}));  // data/assets is the one folder that may be made there
  EXPECT_TRUE(fs::exists(at("data/assets/a.yml")));
  auto other = make_file_store(must(open_folder_tree(at("elsewhere/sub"), &rules)), clock);
  link(at("data"), "elsewhere");
  EXPECT_EQ(other->put("a.yml", "x", {}).error().code, Code::upstream);
  EXPECT_FALSE(fs::exists(at("data/sub")));
}

}  // namespace dash::storage::local
