// What only a share can do wrong: refuse a login, be absent, hang.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/smb/share_tree.hpp"
#include "tests/contract/stores_under_test.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::smb {
namespace {

Share test_share() {
  return {need_variable("SMB_HOST"),
          need_variable("SMB_SHARE"),
          "",
          "",
          need_variable("SMB_USER"),
          Secret(need_variable("SMB_PASS")),
          static_cast<std::uint16_t>(std::stoi(need_variable("SMB_PORT")))};
}

// A child without a response after this time hangs, or the machine is slow. A retry tells which: a hang stays
// one.
constexpr std::chrono::seconds kPatience{5};
constexpr int kAttempts = 24;

bool lists_in_the_end(local::FileTree& tree) {
  for (int i = 0; i < kAttempts; ++i)
    if (tree.list("")) return true;
  return false;
}

TEST(SmbShareTree, NamesTheSettingsWhenTheLoginIsRefused) {
  auto share = test_share();
  share.password = Secret("wrong");
  auto refused = open_share_tree(share)->list("");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("storage_local_password"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("wrong"), std::string::npos);
}

TEST(SmbShareTree, TellsAnAbsentServerAndAnAbsentShare) {
  auto nowhere = test_share();
  nowhere.port = 9;
  EXPECT_EQ(open_share_tree(nowhere)->list("").error().code, Code::unreachable);
  auto other = test_share();
  other.share = "no-such-share";
  EXPECT_FALSE(open_share_tree(other)->list(""));
}

// To the share "WEB.yml" and "web.yml" are one file; a scope belongs to the uploaded one.
TEST(SmbShareTree, AFileIsThereByItsOwnSpellingAlone) {
  SystemClock clock;
  auto share = test_share();
  share.folder = "spelling-" + crypto::random_hex(8);
  auto store = local::make_file_store(open_share_tree(share), clock);
  must(store->put("web.yml", "kept", {}));
  must(store->put("folder/in.yml", "kept", {}));
  for (std::string other : {"WEB.yml", "web.YML", "FOLDER/in.yml", "folder/IN.yml"}) {
    EXPECT_EQ(store->head(other).error().code, Code::not_found) << other;
    EXPECT_EQ(store->remove(other).error().code, Code::not_found) << other;
    EXPECT_EQ(store->put(other, "stolen", {}).error().code, Code::conflict) << other;
  }
  for (std::string own : {"web.yml", "folder/in.yml"}) {
    std::string out(10, '\0');
    out.resize(must(store->read(own, 0, "", out)));
    EXPECT_EQ(out, "kept");
    must(store->put(own, "new", {}));
    EXPECT_EQ(must(store->head(own)).size, 3u);
    must(store->remove(own));
  }
}

TEST(SmbShareTree, KillsAChildThatHangsAndAsksAnother) {
  auto http = net::make_curl_client();
  auto share = test_share();
  FaultProxy proxy(*http, need_variable("TOXIPROXY_URL"),
                   fmt::format("http://{}:{}", share.server, share.port));
  share.port = static_cast<std::uint16_t>(std::stoi(proxy.url().substr(proxy.url().rfind(':') + 1)));
  auto tree = open_share_tree(share, "/proc/self/exe", kPatience);
  ASSERT_TRUE(lists_in_the_end(*tree));
  proxy.swallow();
  EXPECT_EQ(tree->list("").error().code, Code::timeout);
  proxy.heal();
  EXPECT_TRUE(lists_in_the_end(*tree));
}

}  // namespace
}  // namespace dash::storage::smb
