#include "core/storage/assets/assets.hpp"

#include <gtest/gtest.h>

#include "core/storage/assets/asset_reader.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

template <class T>
int status_of(const Result<T>& result) {
  return result ? 200 : info(result.error().code).http_status;
}

class AssetsTest : public ::testing::Test {
 protected:
  AssetsTest() {
    for (std::string name : {"site.yml", "web.yml", "dir/in.sh", "notes.txt"})
      place(name, "content of " + name);
    must(one.scopes.set(world.admin, "obj_cloud1", "web.yml", "web"));
  }
  void place(const std::string& name, std::string_view bytes) {
    must(world.store().put("config-mgmt/" + name, bytes, {}));
  }
  std::vector<std::string> names(const Principal& principal) {
    std::vector<std::string> list;
    for (const auto& item : must(one.assets.list(principal)).items) list.push_back(item.name);
    return list;
  }
  using Names = std::vector<std::string>;
  StorageFixture world;
  Replica one{world};
};

}  // namespace

TEST(AssetText, IsThatOfTheTree) {
  for (const auto& asset :
       {Asset{"a.yml", "playbook", 7, "local", "team", "sha256:00"}, Asset{"", "", 0, "", std::nullopt, ""},
        Asset{"q\"\\\n\x01 \xc3\xa4 \xff.sh", "shell", ~0ull, "obj_cloud1", "\"", "x"}}) {
    std::string text = "[";
    append_json(text, asset);
    EXPECT_EQ(text, "[" + dump_json(to_json(asset)));
  }
}

TEST_F(AssetsTest, ListsEveryKeyUnderThePrefixByNameAndNothingElse) {
  must(world.store().put("iac-state/x/terraform.yml", "state", {}));
  must(world.store().put("config-mgmtX/evil.yml", "x", {}));
  for (auto unnameable : {"folder/", "a//b.yml", "a/../b.yml", "line\n.yml"}) place(unnameable, "");
  place(".hidden", "x");
  EXPECT_EQ(names(world.admin), (Names{".hidden", "dir/in.sh", "notes.txt", "site.yml", "web.yml"}));
  auto listing = must(one.assets.list_page(world.admin, std::nullopt, ""));
  EXPECT_EQ(
      dump_json(to_json(listing)["items"][2]),
      R"({"name":"notes.txt","type":"other","size":20,"backend":"obj_cloud1","workgroup":null,"digest":null})");
  EXPECT_EQ(
      dump_json(to_json(listing)["items"][4]),
      R"({"name":"web.yml","type":"playbook","size":18,"backend":"obj_cloud1","workgroup":"web","digest":null})");
  EXPECT_EQ(to_json(listing)["count"], 5);
}

TEST_F(AssetsTest, FollowsThePagesOfALongListing) {
  world.store().page_size = 7;
  for (int i = 0; i < 100; ++i) place(fmt::format("f{:03}.yml", i), "x");
  EXPECT_EQ(names(world.admin).size(), 104u);
}

TEST_F(AssetsTest, HidesAnotherWorkgroupsAssetsFromListAndCount) {
  EXPECT_EQ(names(world.ann), (Names{"dir/in.sh", "notes.txt", "site.yml", "web.yml"}));
  EXPECT_EQ(names(world.bob), (Names{"dir/in.sh", "notes.txt", "site.yml"}));
  EXPECT_EQ(to_json(must(one.assets.list_page(world.bob, std::nullopt, "")))["count"], 3);
}

TEST_F(AssetsTest, ListsANamedBackendForAdminsOnly) {
  EXPECT_EQ(status_of(one.assets.list(world.ann, "obj_cloud1")), 403);
  EXPECT_EQ(must(one.assets.list(world.admin, "s3")).items.size(), 4u);
  EXPECT_EQ(status_of(one.assets.list(world.admin, "gcs")), 400);
  EXPECT_EQ(status_of(one.assets.list(world.admin, "ftp")), 400);
}

TEST_F(AssetsTest, ListsEveryBackendAPageAtATimeAndLeavesOutOneThatFails) {
  world.store().page_size = 2;
  world.set("storage_obj_cloud3_bucket", "c");
  world.set("storage_local_path", "/srv/assets");
  must(world.stores.at("local")->put("last.yml", "x", {}));
  world.unreachable.insert("obj_cloud3");
  auto all = [&](const Principal& principal) {
    Names found;
    for (AllPosition at; !at.is_end;) {
      auto page = must(one.assets.list_all(principal, at));
      EXPECT_LE(page.size(), 2u);
      for (const auto& asset : page) found.push_back(asset.backend + ":" + asset.name);
    }
    return found;
  };
  EXPECT_EQ(all(world.ann), (Names{"obj_cloud1:dir/in.sh", "obj_cloud1:notes.txt", "obj_cloud1:site.yml",
                                   "obj_cloud1:web.yml", "local:last.yml"}));
  EXPECT_EQ(all(world.bob).size(), 4u) << "web.yml is of another workgroup";
}

TEST_F(AssetsTest, FindsNoDifferenceBetweenAbsentAndHidden) {
  auto hidden = one.assets.find(world.bob, "", "web.yml");
  must(world.store().remove("config-mgmt/web.yml"));
  auto absent = one.assets.find(world.ann, "", "web.yml");
  ASSERT_FALSE(hidden);
  ASSERT_FALSE(absent);
  EXPECT_EQ(status_of(hidden), 404);
  EXPECT_EQ(hidden.error().message, absent.error().message);
}

TEST_F(AssetsTest, FindsNothingBehindAHostileName) {
  must(world.store().put("secret.yml", "x", {}));
  for (auto name :
       {"../secret.yml", "../config-mgmt/site.yml", "/site.yml", "", "a\\..\\..\\secret.yml", "dir/"})
    EXPECT_EQ(status_of(one.assets.find(world.admin, "", name)), 404) << name;
}

TEST_F(AssetsTest, FindsScopesAndDeletesWhatOthersPlacedUnderAnyName) {
  for (std::string name : {"notes.txt", "dir/sub/file.bin", "Makefile", ".hidden"}) {
    place(name, "x");
    EXPECT_EQ(must(one.assets.find(world.bob, "", name)).asset.type, "other") << name;
    EXPECT_EQ(must(one.assets.set_scope(world.admin, "", name, "web")).workgroup, AssetScope("web")) << name;
    EXPECT_EQ(status_of(one.assets.find(world.bob, "", name)), 404) << name;
    EXPECT_EQ(status_of(one.assets.remove(world.ann, name)), 200) << name;
    EXPECT_FALSE(world.store().has("config-mgmt/" + name)) << name;
  }
}

TEST_F(AssetsTest, KeepsWhatIsNotAnAssetApartWhereThereIsNoPrefix) {
  world.set("storage_local_path", "/srv/assets");
  world.set("storage_active_backend", "local");
  for (auto name : {"a.yml", "iac-state/job/terraform.tfstate", "dashctl-audit/x/1.checkpoint"})
    must(world.stores.at("local")->put(name, "x", {}));
  EXPECT_EQ(names(world.admin), Names{"a.yml"});
  EXPECT_EQ(status_of(one.assets.find(world.admin, "", "dashctl-audit/x/1.checkpoint")), 404);
  EXPECT_EQ(status_of(one.assets.remove(world.admin, "iac-state/job/terraform.tfstate")), 404);
}

TEST_F(AssetsTest, ReadsARangeThroughAnyBuffer) {
  std::string bytes(kPartBytes + 1000, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  place("big.rpm", bytes);
  for (std::size_t buffer : {1000u, 70'000u}) {
    AssetReader reader(must(one.assets.find(world.ann, "", "big.rpm")), 5, bytes.size() - 3, one.buffers,
                       world.clock);
    std::string read, piece(buffer, ' ');
    while (auto n = must(reader.read(piece))) read.append(piece, 0, n);
    EXPECT_TRUE(read == bytes.substr(5, bytes.size() - 8));
  }
}

TEST_F(AssetsTest, StopsADownloadWhoseContentWasReplaced) {
  AssetReader reader(must(one.assets.find(world.ann, "", "site.yml")), 0, 19, one.buffers, world.clock);
  place("site.yml", "other content      ");
  std::string piece(100, ' ');
  EXPECT_EQ(status_of(reader.read(piece)), 412);
}

TEST_F(AssetsTest, ServesADownloadWithoutAFreePart) {
  std::vector<Buffer> taken;
  while (auto part = one.buffers.try_acquire()) taken.push_back(std::move(part));
  AssetReader reader(must(one.assets.find(world.ann, "", "site.yml")), 0, 19, one.buffers, world.clock);
  std::string piece(100, ' ');
  EXPECT_EQ(must(reader.read(piece)), 19u);
}

TEST_F(AssetsTest, GivesThePartBackOfADownloadThatIsSlow) {
  place("big.rpm", std::string(2 * kPartBytes, 'x'));
  AssetReader reader(must(one.assets.find(world.ann, "", "big.rpm")), 0, 2 * kPartBytes, one.buffers,
                     world.clock);
  std::string piece(kPartBytes, ' ');
  EXPECT_EQ(must(reader.read(piece)), kPartBytes);
  world.clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(must(reader.read(piece)), 256u << 10);
}

TEST_F(AssetsTest, ADownloadThatReleasesItsPartGoesOnWhereItWas) {
  std::string bytes(4 * kPartBytes, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  place("big.rpm", bytes);
  AssetReader reader(must(one.assets.find(world.ann, "", "big.rpm")), 0, bytes.size(), one.buffers,
                     world.clock);
  auto free = one.buffers.available();
  std::string piece(100'000, ' '), read;
  auto read_on = [&] {
    auto n = must(reader.read(piece));
    if (n == 0) throw std::runtime_error("the asset ended early");
    read.append(piece, 0, n);
  };
  read_on();
  EXPECT_EQ(one.buffers.available(), free - 1);
  reader.release();
  EXPECT_EQ(one.buffers.available(), free);
  read_on();
  EXPECT_EQ(one.buffers.available(), free);  // straight from the store, until it has been quick for a while
  while (read.size() < kPartBytes + 2 * piece.size()) read_on();
  EXPECT_EQ(one.buffers.available(), free - 1);
  while (read.size() < bytes.size()) read_on();
  EXPECT_TRUE(read == bytes);
  EXPECT_EQ(must(reader.read(piece)), 0u);
}

TEST_F(AssetsTest, OneUsersDownloadsHoldAShareOfTheParts) {
  place("big.rpm", std::string(2 * kPartBytes, 'x'));
  BufferPool buffers({4, 1, {2, 3}});
  std::vector<std::unique_ptr<AssetReader>> readers;
  std::string piece(1000, ' ');
  for (int i = 0; i < 5; ++i) {
    readers.push_back(std::make_unique<AssetReader>(must(one.assets.find(world.ann, "", "big.rpm")), 0,
                                                    2 * kPartBytes, buffers, world.clock, Prefetched(),
                                                    Holder{"ann", "192.0.2.1"}));
    EXPECT_EQ(must(readers.back()->read(piece)), piece.size());
  }
  EXPECT_EQ(buffers.available(), 2u);
}

TEST_F(AssetsTest, DeletesForAdminsAndForMembersOfAScopedOne) {
  EXPECT_EQ(status_of(one.assets.remove(world.bob, "site.yml")), 403);
  EXPECT_EQ(status_of(one.assets.remove(world.bob, "web.yml")), 404);
  EXPECT_EQ(status_of(one.assets.remove(world.bob, "none.yml")), 404);
  EXPECT_EQ(status_of(one.assets.remove(world.ann, "web.yml")), 200);
  EXPECT_EQ(status_of(one.assets.remove(world.admin, "site.yml")), 200);
  EXPECT_EQ(status_of(one.assets.remove(world.admin, "site.yml")), 404);
  EXPECT_EQ(must(one.scopes.get("obj_cloud1", "web.yml")), AssetScope());
  EXPECT_EQ(world.audited("storage.delete").size(), 2u);
}

TEST_F(AssetsTest, ScopesForAdminsOnBlankOrNamedBackend) {
  EXPECT_EQ(status_of(one.assets.set_scope(world.ann, "", "site.yml", "web")), 403);
  EXPECT_EQ(must(one.assets.set_scope(world.admin, "", "site.yml", "WEB")).workgroup, AssetScope("web"));
  EXPECT_EQ(must(one.scopes.get("obj_cloud1", "site.yml")), AssetScope("web"));
  EXPECT_EQ(must(one.assets.set_scope(world.admin, "s3", "site.yml", std::nullopt)).workgroup, AssetScope());
  EXPECT_EQ(status_of(one.assets.set_scope(world.admin, "", "none.yml", "web")), 404);
  EXPECT_EQ(status_of(one.assets.set_scope(world.admin, "", "site.yml", "nobody")), 400);
  EXPECT_EQ(status_of(one.assets.set_scope(world.admin, "gcs", "site.yml", "web")), 400);
}

TEST_F(AssetsTest, LiftsTheScopeOfAnAssetThatWasRemovedOutOfBand) {
  must(world.store().remove("config-mgmt/web.yml"));
  EXPECT_EQ(status_of(one.assets.set_scope(world.admin, "", "web.yml", "data")), 404);
  EXPECT_EQ(status_of(one.assets.set_scope(world.admin, "", "web.yml", std::nullopt)), 200);
  EXPECT_EQ(must(one.scopes.get("obj_cloud1", "web.yml")), AssetScope());
}

TEST_F(AssetsTest, DeletesManyAndGoesOnAfterAFailure) {
  auto removal = must(one.assets.remove_many(world.admin, {{"s3", "site.yml"}, {"gcs", "x.yml"}}));
  EXPECT_EQ(
      dump_json(to_json(removal)),
      R"({"deleted":[{"name":"site.yml","backend":"s3"}],"failed":[{"name":"x.yml","backend":"gcs","error":"Backend 'obj_cloud3' is not configured."}],"summary":"1 deleted, 1 failed"})");
  EXPECT_FALSE(world.store().has("config-mgmt/site.yml"));
  EXPECT_EQ(status_of(one.assets.remove_many(world.admin, {})), 400);
  EXPECT_EQ(must(one.assets.remove_many(world.bob, {{"", "web.yml"}})).failed.size(), 1u);
  EXPECT_TRUE(world.store().has("config-mgmt/web.yml"));
}

TEST_F(AssetsTest, ProbesABackendAndTellsTheErrorAsAnAnswer) {
  EXPECT_EQ(dump_json(to_json(must(one.assets.test(world.admin, "obj_cloud1")))), R"({"ok":true,"count":4})");
  EXPECT_EQ(to_json(must(one.assets.test(world.admin, "gcs")))["ok"], false);
  EXPECT_EQ(status_of(one.assets.test(world.admin, "ftp")), 400);
  EXPECT_EQ(status_of(one.assets.test(world.ann, "obj_cloud1")), 403);
}

TEST_F(AssetsTest, ChangesSettingsForAdminsAllOrNothingAndAuditsKeysNotValues) {
  auto body = [](std::string_view text) { return must(parse_json(text)); };
  EXPECT_EQ(status_of(one.config_service.change_storage(world.ann, body("{}"))), 403);
  EXPECT_EQ(status_of(one.storage.config().show(world.ann)), 403);
  auto bad = R"({"storage_local_path":"/x","storage_hub_backend":"local"})";
  EXPECT_EQ(status_of(one.config_service.change_storage(world.admin, body(bad))), 400);
  EXPECT_EQ(must(one.storage.config().show(world.admin))["storage_local_path"], "");
  auto good = R"({"storage_local_path":"/x","storage_local_password":"hunter2"})";
  EXPECT_EQ(
      dump_json(to_json(must(one.config_service.change_storage(world.admin, body(good))))),
      R"({"ok":true,"updated":["storage_local_password","storage_local_path"],"iac_state_migrated":0,"iac_state_left":[]})");
  auto audited = world.audited("storage.config.update");
  ASSERT_EQ(audited.size(), 1u);
  EXPECT_EQ(audited[0].find("hunter2"), std::string::npos);
  EXPECT_NE(audited[0].find("storage_local_path"), std::string::npos);
}

}  // namespace dash::storage
