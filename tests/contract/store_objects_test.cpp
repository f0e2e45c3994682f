// Objects: names, listing, ranges, replacing, deleting.
#include <atomic>
#include <thread>

#include "tests/contract/store_suite.hpp"

namespace dash::storage {
namespace {

class StoreObjectsContract : public StoreSuite {};
// Of stores with names of any script, times and pages.
class StoreFoldersContract : public StoreSuite {};

TEST_P(StoreFoldersContract, KeepsBytesUnderNamesOfAnyScript) {
  std::set<std::string> names{"plain.yml", "with space.sh",  "ü+ñ.yml",        "日本語.rpm", "a&b=c;d.deb",
                              "100%.ps1",  "it's (1) ~!.sh", "sub/deep/x.yml", "🙂.yml"};
  for (const auto& name : names) must(store_->put(key(name), "of " + name, {}));
  EXPECT_EQ(listed(), names);
  for (const auto& name : names) EXPECT_EQ(whole(key(name)), "of " + name) << name;
}

TEST_P(StoreFoldersContract, TellsSizeEtagAndTimeOfAnObject) {
  auto before = clock_.now() - std::chrono::minutes(1);
  auto put = must(store_->put(key("a.yml"), "12345", {}));
  auto head = must(store_->head(key("a.yml")));
  auto page = must(store_->list(key("a.yml"), ""));
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(head.size, 5u);
  EXPECT_EQ(page.objects[0].size, 5u);
  EXPECT_FALSE(head.etag.empty());
  EXPECT_EQ(head.etag, put.etag);
  EXPECT_EQ(head.etag, page.objects[0].etag);
  EXPECT_GT(head.modified, before);
}

TEST_P(StoreObjectsContract, KeepsTheDigestWhenItSaysSo) {
  auto digest = "p8:" + std::string(64, 'a');
  must(store_->put(key("a.yml"), "x", {.digest = digest}));
  auto kept = must(store_->head(key("a.yml"))).digest;
  EXPECT_EQ(kept, store_->capabilities().keeps_digest_on_put ? digest : "");
}

TEST_P(StoreFoldersContract, ListsPastAThousandInOrder) {
  constexpr int kCount = 1005;
  std::atomic<int> next = 0;
  auto write = [&] {
    for (int i = next++; i < kCount; i = next++) must(store_->put(key(fmt::format("n{:04}.yml", i)), "", {}));
  };
  std::thread other(write);
  write();
  other.join();
  std::vector<std::string> names;
  std::string cursor;
  int pages = 0;
  do {
    auto page = must(store_->list(folder_, cursor));
    for (const auto& object : page.objects) names.push_back(object.key);
    cursor = page.cursor;
    ++pages;
  } while (!cursor.empty());
  ASSERT_EQ(names.size(), static_cast<std::size_t>(kCount));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(names.back(), key("n1004.yml"));
  const bool is_file_system = GetParam().endpoint_key.empty();
  if (!is_file_system) {
    EXPECT_GE(pages, 2);  // a folder's page is longer: file_page_test.cpp
  }
}

TEST_P(StoreObjectsContract, AListOfNothingIsEmpty) { EXPECT_TRUE(listed().empty()); }

TEST_P(StoreObjectsContract, KeepsAnObjectOfNoBytes) {
  must(store_->put(key("empty.yml"), "", {}));
  EXPECT_EQ(must(store_->head(key("empty.yml"))).size, 0u);
  EXPECT_EQ(whole(key("empty.yml")), "");
  EXPECT_EQ(listed(), std::set<std::string>{"empty.yml"});
}

TEST_P(StoreObjectsContract, ReadsRanges) {
  auto bytes = pattern(100'000);
  must(store_->put(key("r.deb"), bytes, {}));
  std::string out(1000, '\0');
  EXPECT_EQ(must(store_->read(key("r.deb"), 0, "", out)), 1000u);
  EXPECT_EQ(out, bytes.substr(0, 1000));
  EXPECT_EQ(must(store_->read(key("r.deb"), 54'321, "", out)), 1000u);
  EXPECT_EQ(out, bytes.substr(54'321, 1000));
  EXPECT_EQ(must(store_->read(key("r.deb"), 99'900, "", out)), 100u);
  EXPECT_EQ(out.substr(0, 100), bytes.substr(99'900));
  EXPECT_EQ(must(store_->read(key("r.deb"), 100'000, "", out)), 0u);
  EXPECT_EQ(must(store_->read(key("r.deb"), 1ull << 40, "", out)), 0u);
}

TEST_P(StoreObjectsContract, ReadsOnlyTheVersionThatWasAskedFor) {
  auto first = must(store_->put(key("v.yml"), "first", {}));
  std::string out(16, '\0');
  EXPECT_EQ(must(store_->read(key("v.yml"), 0, first.etag, out)), 5u);
  must(store_->put(key("v.yml"), "second", {}));
  EXPECT_EQ(store_->read(key("v.yml"), 0, first.etag, out).error().code, Code::precondition);
}

TEST_P(StoreObjectsContract, ReplacesAWholeObject) {
  auto first = must(store_->put(key("o.yml"), "a longer first content", {}));
  auto second = must(store_->put(key("o.yml"), "short", {}));
  EXPECT_NE(first.etag, second.etag);
  EXPECT_EQ(whole(key("o.yml")), "short");
}

TEST_P(StoreObjectsContract, CreatesOnlyWhatIsAbsentWhenAskedTo) {
  must(store_->put(key("c.yml"), "one", {.digest = "", .only_if_absent = true}));
  EXPECT_EQ(store_->put(key("c.yml"), "two", {.digest = "", .only_if_absent = true}).error().code,
            Code::conflict);
  EXPECT_EQ(whole(key("c.yml")), "one");
}

TEST_P(StoreObjectsContract, RemovesOnce) {
  must(store_->put(key("d.yml"), "x", {}));
  must(store_->remove(key("d.yml")));
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(store_->remove(key("d.yml")).error().code, Code::not_found);
}

TEST_P(StoreObjectsContract, RemovesOnlyWhatStillHasTheEtagThatWasRead) {
  auto first = must(store_->put(key("d.yml"), "first", {}));
  auto second = must(store_->put(key("d.yml"), "another one", {}));
  EXPECT_EQ(store_->remove_unchanged(first).error().code, Code::precondition);
  EXPECT_EQ(whole(key("d.yml")), "another one");
  must(store_->remove_unchanged(second));
  EXPECT_EQ(store_->remove_unchanged(second).error().code, Code::not_found);
}

// The test servers' buckets keep none. The listing itself is checked by tests/e2e/test_state_history.py.
TEST_P(StoreObjectsContract, SaysThatNoVersionsAreKept) {
  must(store_->put(key("v.yml"), "one", {}));
  must(store_->put(key("v.yml"), "two", {}));
  auto kept = must(store_->versions(key("v.yml")));
  EXPECT_EQ(kept.versioning, Versioning::off);
  EXPECT_LE(kept.versions.size(), 1u);
  EXPECT_NE(must(store_->versions("")).versioning, Versioning::on);
}

TEST_P(StoreObjectsContract, KnowsWhatIsAbsent) {
  std::string out(8, '\0');
  EXPECT_EQ(store_->head(key("no.yml")).error().code, Code::not_found);
  EXPECT_EQ(store_->read(key("no.yml"), 0, "", out).error().code, Code::not_found);
}

TEST_P(StoreObjectsContract, RefusesHostileNames) {
  std::string out(8, '\0');
  for (std::string name : {std::string("../x.yml"), std::string("a/../../x.yml"), std::string("/etc/passwd"),
                           std::string("a//b.yml"), std::string("./x.yml"), std::string("x\n.yml"),
                           std::string("x\0.yml", 6), std::string("\xff.yml"), std::string()}) {
    EXPECT_EQ(store_->put(name, "x", {}).error().code, Code::invalid) << name;
    EXPECT_EQ(store_->read(name, 0, "", out).error().code, Code::invalid) << name;
    EXPECT_EQ(store_->head(name).error().code, Code::invalid) << name;
    EXPECT_EQ(store_->remove(name).error().code, Code::invalid) << name;
    EXPECT_EQ(store_->begin(name, 1).error().code, Code::invalid) << name;
  }
}

TEST_P(StoreObjectsContract, TellsWhereItIs) { EXPECT_FALSE(store_->place().empty()); }

TEST_P(StoreObjectsContract, OpensWithItsFirstBytes) {
  auto bytes = pattern(5000);
  for (std::size_t size : {0u, 1u, 1000u, 5000u}) {
    auto content = std::string_view(bytes).substr(0, size);
    auto put = must(store_->put(key("o.deb"), content, {}));
    std::string out(1000, '\0');
    auto opened = must(store_->open(key("o.deb"), out));
    EXPECT_EQ(opened.size, std::min<std::size_t>(size, 1000));
    EXPECT_EQ(out.substr(0, opened.size), content.substr(0, 1000));
    EXPECT_EQ(opened.object.size, size);
    EXPECT_EQ(opened.object.etag, put.etag);
    EXPECT_EQ(opened.object.digest, must(store_->head(key("o.deb"))).digest);
  }
  std::string out(8, '\0');
  EXPECT_EQ(store_->open(key("no.deb"), out).error().code, Code::not_found);
}

INSTANTIATE_TEST_SUITE_P(Every, StoreObjectsContract, testing::ValuesIn(all_stores_and_shares()), test_name);
INSTANTIATE_TEST_SUITE_P(Every, StoreFoldersContract,
                         testing::ValuesIn(all_stores().begin(), all_stores().end()), test_name);

}  // namespace
}  // namespace dash::storage
