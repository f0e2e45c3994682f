#include "core/storage/assets/asset_list.hpp"

#include <gtest/gtest.h>

#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

OpenBackend backend_at(std::string place, std::string prefix, std::size_t number = 0) {
  OpenBackend at;
  at.descriptor = &backends()[number];
  at.store = std::make_shared<MemoryStore>(std::move(place));
  at.prefix = std::move(prefix);
  return at;
}

TEST(AssetCursor, IsGoodForTheListingThatItIsOfAndForNoOther) {
  Secret key(std::string(32, 'k'));
  auto at = backend_at("memory://one", "config-mgmt/");
  auto text = seal_cursor(key, at, "the store's own");
  EXPECT_EQ(must(open_cursor(key, at, text)), "the store's own");
  EXPECT_EQ(text.find("store"), text.npos);
  for (const auto& other : {backend_at("memory://two", "config-mgmt/"), backend_at("memory://one", "other/"),
                            backend_at("memory://one", "config-mgmt/", 1)})
    EXPECT_EQ(open_cursor(key, other, text).error().code, Code::invalid);
  EXPECT_EQ(open_cursor(Secret(std::string(32, 'x')), at, text).error().code, Code::invalid);
  for (auto bad : {"x", "?", "AAAA"}) EXPECT_EQ(open_cursor(key, at, bad).error().code, Code::invalid);
}

TEST(AssetCursor, IsEmptyAtBothEnds) {
  Secret key(std::string(32, 'k'));
  auto at = backend_at("memory://one", "");
  EXPECT_EQ(seal_cursor(key, at, ""), "");
  EXPECT_EQ(must(open_cursor(key, at, "")), "");
}

TEST(AssetPage, HasNamesWithoutThePrefixAndNoFolderOfTheDashboard) {
  auto at = backend_at("memory://one", "");
  for (auto key : {"b.yml", "a.yml", "iac-state/x/terraform.yml", "dashctl-audit/1.txt", "folder/"})
    must(at.store->put(key, "x", {}));
  std::vector<std::string> names;
  for (const auto& item : must(read_page(at, "")).items) names.push_back(item.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.yml", "b.yml"}));
  at.prefix = "iac-state/";
  EXPECT_EQ(must(read_page(at, "")).items.at(0).name, "x/terraform.yml");
}

}  // namespace
}  // namespace dash::storage
