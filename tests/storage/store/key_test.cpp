#include "core/storage/store/key.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

TEST(CheckKey, TakesPlainPathsOfAnyScript) {
  for (std::string key :
       {"a.yml", "config-mgmt/a b+c.yml", "a/ü/日本.sh", "x/..yml", "...", "a/.hidden", "back\\slash"})
    EXPECT_TRUE(check_key(key)) << key;
  EXPECT_TRUE(check_key(std::string(1024, 'k')));
}

TEST(CheckKey, RefusesWhatClimbsOrIsAbsolute) {
  for (std::string key : {"", "/etc/passwd", "../x.yml", "a/../x.yml", "a/..", "./x.yml", "a//x.yml", "a/"})
    EXPECT_EQ(check_key(key).error().code, Code::invalid) << key;
}

TEST(CheckKey, RefusesWhatCannotBePrinted) {
  for (std::string key : {std::string("a\0b", 3), std::string("a\nb"), std::string("a\x7f"),
                          std::string("a\xc2\x85"), std::string("\xff.yml")})
    EXPECT_EQ(check_key(key).error().code, Code::invalid);
  EXPECT_FALSE(check_key(std::string(1025, 'k')));
}

}  // namespace
}  // namespace dash::storage
