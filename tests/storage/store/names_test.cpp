#include "core/storage/store/names.hpp"

#include <gtest/gtest.h>

namespace dash::storage {

TEST(UploadName, TakesEveryExtensionOfTheTableInAnyCase) {
  for (auto name : {"a.yml", "a.yaml", "a.sh", "a.ps1", "a.rpm", "a.deb", "A.YML", "pkg-1.0+x y.RPM", "ü.sh"})
    EXPECT_TRUE(check_upload_name(name)) << name;
  for (auto name : {"a.txt", "a", "a.yml.exe", "yml", "a.sh "}) EXPECT_FALSE(check_upload_name(name)) << name;
}

TEST(UploadName, TellsTheKindOfAsset) {
  EXPECT_EQ(asset_type("x.YAML"), "playbook");
  EXPECT_EQ(asset_type("x.sh"), "script");
  EXPECT_EQ(asset_type("x.ps1"), "powershell");
  EXPECT_EQ(asset_type("x.rpm"), "rpm");
  EXPECT_EQ(asset_type("x.deb"), "deb");
  EXPECT_FALSE(asset_type("x.exe"));
}

TEST(UploadName, RefusesSeparatorsLeadingDotsControlCharactersAndBadUtf8) {
  for (std::string name : {"../a.yml", "a/b.yml", "a\\b.yml", ".yml", ".a.yml", "", "a\n.yml", "a\x7f.yml",
                           "a\xc2\x85.yml", "a\xff.yml", "a\xc0\xaf.yml", "a\xed\xa0\x80.yml"})
    EXPECT_EQ(check_upload_name(name).error().code, Code::invalid) << name;
  EXPECT_FALSE(check_upload_name(std::string("a\0.yml", 6)));
}

TEST(UploadName, RefusesCharactersThatTurnTheDirectionOfWriting) {
  for (auto name : {"\u202etxt.yml", "a\u202a.yml", "a\u2066b.sh", "a\u2069.deb"})
    EXPECT_EQ(check_upload_name(name).error().code, Code::invalid) << name;
  EXPECT_TRUE(check_upload_name("שלום.yml"));
}

TEST(UploadName, EndsAtTwoHundredAndFiftyFiveBytes) {
  EXPECT_TRUE(check_upload_name(std::string(251, 'a') + ".yml"));
  EXPECT_FALSE(check_upload_name(std::string(252, 'a') + ".yml"));
}

TEST(AgentNames, AreBareAndPlain) {
  for (auto name : {"a.yml", "9-b_c.sh"}) EXPECT_TRUE(check_agent_name(name)) << name;
  for (auto name : {"", "_a.yml", ".a.yml", "-a.yml", "a b.yml", "a/b.yml", "\u00e9.yml"})
    EXPECT_FALSE(check_agent_name(name)) << name;
}

}  // namespace dash::storage
