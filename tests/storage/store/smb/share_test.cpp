#include "core/storage/store/smb/share.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage::smb {
namespace {

config::Values path(std::string text, config::Values more = {}) {
  more["storage_local_path"] = std::move(text);
  return more;
}

TEST(SmbShare, ReadsAUncPathInEitherSlash) {
  for (std::string text : {R"(\\files.example\share\a dir\sub\)", "//files.example/share/a dir/sub"}) {
    ASSERT_TRUE(is_unc(text));
    auto share = must(read_share(path(text)));
    EXPECT_EQ(share.server, "files.example");
    EXPECT_EQ(share.share, "share");
    EXPECT_EQ(share.folder, "a dir/sub");
    EXPECT_EQ(share.port, 445);
  }
  EXPECT_EQ(must(read_share(path(R"(\\s\x)"))).folder, "");
  EXPECT_FALSE(is_unc("/srv/assets"));
}

TEST(SmbShare, TakesTheDomainFromTheUserNameOrFromItsOwnSetting) {
  auto typed = must(read_share(
      path("//s/x", {{"storage_local_username", R"(CORP\ann)"}, {"storage_local_domain", "OTHER"}})));
  EXPECT_EQ(typed.domain + "|" + typed.user, "CORP|ann");
  auto set =
      must(read_share(path("//s/x", {{"storage_local_username", "ann"}, {"storage_local_domain", "OTHER"}})));
  EXPECT_EQ(set.domain + "|" + set.user, "OTHER|ann");
}

TEST(SmbShare, NamesTheSettingThatIsWrong) {
  for (std::string text : {R"(\\server)", R"(\\server\)", R"(\\\share)", "//user@server/x", R"(\\s\x\..\y)"})
    EXPECT_NE(read_share(path(text)).error().message.find("storage_local_path"), std::string::npos) << text;
  for (std::string port : {"0", "65536", "smb"})
    EXPECT_NE(
        read_share(path("//s/x", {{"storage_local_port", port}})).error().message.find("storage_local_port"),
        std::string::npos);
}

TEST(SmbShare, RefusesNamesThatWindowsWouldChange) {
  for (std::string name :
       {"a:b.yml", "a\\b.yml", "what?.yml", "x.yml.", "x.yml ", "dir./x.yml", "a*", "a|b", "../x"})
    EXPECT_EQ(check_share_path(name).error().code, Code::invalid) << name;
  for (std::string name :
       {"CON.yml", "nul", "aux.tar.gz", "dir/Com1.rpm", "LPT\u00b2.sh", "prn .yml", "con/x.yml"})
    EXPECT_EQ(check_share_path(name).error().code, Code::invalid) << name;
  EXPECT_TRUE(check_share_path(std::string(255, 'x')));
  EXPECT_FALSE(check_share_path(std::string(256, 'x')));
  for (std::string name : {"a b.yml", ".dashctl-uploads/x", "ü/日本.sh", "..yml", "console.yml", "com10.sh",
                           "com.sh", "xnul.yml"})
    EXPECT_TRUE(check_share_path(name)) << name;
}

}  // namespace
}  // namespace dash::storage::smb
