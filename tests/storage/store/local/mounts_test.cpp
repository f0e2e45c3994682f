#include "core/storage/store/local/mounts.hpp"

#include <gtest/gtest.h>

namespace dash::storage::local {
namespace {

// A root file system, a data disk, a folder of each shown elsewhere, and a name with a space.
constexpr std::string_view kMounts =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "23 22 8:2 / /data rw shared:2 - ext4 /dev/sdb1 rw\n"
    "24 22 8:1 /etc/ssl /srv/shown rw - ext4 /dev/sda1 rw\n"
    "25 22 8:2 /a\\040b /srv/second rw - ext4 /dev/sdb1 rw\n"
    "26 22 0:5 / /proc rw - proc proc rw\n"
    "cut short\n";

using Paths = std::vector<std::string>;

}  // namespace

TEST(Mounts, AreReadWithTheirEscapes) {
  auto mounts = read_mounts(kMounts);
  ASSERT_EQ(mounts.size(), 5u);
  EXPECT_EQ(mounts[3].id, "25");
  EXPECT_EQ(mounts[3].device, "8:2");
  EXPECT_EQ(mounts[3].root, "/a b");
  EXPECT_EQ(mounts[3].point, "/srv/second");
}

TEST(Mounts, TellWhereElseAFolderIsShown) {
  auto mounts = read_mounts(kMounts);
  EXPECT_EQ(other_paths(mounts, "24", "/srv/shown"), Paths{"/etc/ssl"});
  EXPECT_EQ(other_paths(mounts, "24", "/srv/shown/private"), Paths{"/etc/ssl/private"});
  EXPECT_EQ(other_paths(mounts, "22", "/etc/ssl/private"), Paths{"/srv/shown/private"});
  EXPECT_EQ(other_paths(mounts, "25", "/srv/second"), Paths{"/data/a b"});
  EXPECT_EQ(other_paths(mounts, "23", "/data/a b/c"), Paths{"/srv/second/c"});
}

TEST(Mounts, ShowNoFolderThatOnlyLooksAlike) {
  auto mounts = read_mounts(kMounts);
  EXPECT_EQ(other_paths(mounts, "22", "/etc/sslx"), Paths{});
  EXPECT_EQ(other_paths(mounts, "22", "/etc"), Paths{});
  EXPECT_EQ(other_paths(mounts, "23", "/data/etc/ssl"), Paths{});
  EXPECT_EQ(other_paths(mounts, "99", "/etc/ssl"), Paths{});
  EXPECT_EQ(other_paths(mounts, "23", "/elsewhere"), Paths{});
}

}  // namespace dash::storage::local
