// One suite over all stores: what every ObjectStore promises (core/storage/store.hpp), against real servers.
// One store alone: --gtest_filter='*/StoreContract.*/obj_cloud1'.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "core/base/part_pool.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http_client.hpp"
#include "tests/contract/stores_under_test.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

std::string pattern(std::size_t size, unsigned seed = 0) {
  std::string bytes(size, '\0');
  std::uint32_t state = 2463534242u + seed;
  for (auto& c : bytes) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

class StoreSuite : public testing::TestWithParam<StoreUnderTest> {
 protected:
  void SetUp() override {
    settings_ = GetParam().settings();
    GetParam().prepare(settings_, seams());
    store_ = open(settings_);
  }

  StoreSeams seams(const Clock* clock = nullptr) {
    return {*http_, clock ? *clock : clock_, "/proc/self/exe"};
  }
  std::unique_ptr<ObjectStore> open(const config::Values& settings, const Clock* clock = nullptr) {
    return must(open_bare_store(*must(find_backend(GetParam().backend)), settings, seams(clock)));
  }

  std::string key(std::string_view name) const { return folder_ + std::string(name); }

  std::set<std::string> listed() {
    std::set<std::string> names;
    std::string cursor;
    do {
      auto page = must(store_->list(folder_, cursor));
      for (const auto& object : page.objects) names.insert(object.key.substr(folder_.size()));
      cursor = page.cursor;
    } while (!cursor.empty());
    return names;
  }

  std::string whole(const std::string& of) {
    std::string bytes;
    std::string part(kPartBytes, '\0');
    for (;;) {
      auto n = must(store_->read(of, bytes.size(), "", part));
      bytes.append(part, 0, n);
      if (n < part.size()) return bytes;
    }
  }

  // Stages `bytes` in parts and returns the upload.
  std::string staged(const std::string& of, std::string_view bytes) {
    auto upload = must(store_->begin(of, bytes.size()));
    std::uint32_t n = 0;
    for (std::size_t at = 0; at < bytes.size() || n == 0; at += kPartBytes) {
      auto part = bytes.substr(at, kPartBytes);
      must(store_->put_part(upload, ++n, part, at + part.size() == bytes.size()));
    }
    return upload;
  }
  Object committed(const std::string& of, std::string_view bytes) {
    auto upload = staged(of, bytes);
    return must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  }

  SystemClock clock_;
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  std::string folder_ = "t" + crypto::random_hex(8) + "/";
  config::Values settings_;
  std::unique_ptr<ObjectStore> store_;
};

class StoreContract : public StoreSuite {};

TEST_P(StoreContract, KeepsBytesUnderNamesOfAnyScript) {
  std::set<std::string> names{"plain.yml", "with space.sh",  "ü+ñ.yml",        "日本語.rpm", "a&b=c;d.deb",
                              "100%.ps1",  "it's (1) ~!.sh", "sub/deep/x.yml", "🙂.yml"};
  for (const auto& name : names) must(store_->put(key(name), "of " + name, {}));
  EXPECT_EQ(listed(), names);
  for (const auto& name : names) EXPECT_EQ(whole(key(name)), "of " + name) << name;
}

TEST_P(StoreContract, TellsSizeEtagAndTimeOfAnObject) {
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

TEST_P(StoreContract, KeepsTheDigestWhenItSaysSo) {
  auto digest = "p8:" + std::string(64, 'a');
  must(store_->put(key("a.yml"), "x", {.digest = digest}));
  auto kept = must(store_->head(key("a.yml"))).digest;
  EXPECT_EQ(kept, store_->capabilities().keeps_digest_on_put ? digest : "");
}

TEST_P(StoreContract, ListsPastAThousandInOrder) {
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
  EXPECT_GE(pages, 2);
}

TEST_P(StoreContract, AListOfNothingIsEmpty) { EXPECT_TRUE(listed().empty()); }

TEST_P(StoreContract, KeepsAnObjectOfNoBytes) {
  must(store_->put(key("empty.yml"), "", {}));
  EXPECT_EQ(must(store_->head(key("empty.yml"))).size, 0u);
  EXPECT_EQ(whole(key("empty.yml")), "");
  EXPECT_EQ(listed(), std::set<std::string>{"empty.yml"});
}

TEST_P(StoreContract, ReadsRanges) {
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

TEST_P(StoreContract, ReadsOnlyTheVersionThatWasAskedFor) {
  auto first = must(store_->put(key("v.yml"), "first", {}));
  std::string out(16, '\0');
  EXPECT_EQ(must(store_->read(key("v.yml"), 0, first.etag, out)), 5u);
  must(store_->put(key("v.yml"), "second", {}));
  EXPECT_EQ(store_->read(key("v.yml"), 0, first.etag, out).error().code, Code::precondition);
}

TEST_P(StoreContract, ReplacesAWholeObject) {
  auto first = must(store_->put(key("o.yml"), "a longer first content", {}));
  auto second = must(store_->put(key("o.yml"), "short", {}));
  EXPECT_NE(first.etag, second.etag);
  EXPECT_EQ(whole(key("o.yml")), "short");
}

TEST_P(StoreContract, CreatesOnlyWhatIsAbsentWhenAskedTo) {
  must(store_->put(key("c.yml"), "one", {.digest = "", .only_if_absent = true}));
  EXPECT_EQ(store_->put(key("c.yml"), "two", {.digest = "", .only_if_absent = true}).error().code,
            Code::conflict);
  EXPECT_EQ(whole(key("c.yml")), "one");
}

TEST_P(StoreContract, RemovesOnce) {
  must(store_->put(key("d.yml"), "x", {}));
  must(store_->remove(key("d.yml")));
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(store_->remove(key("d.yml")).error().code, Code::not_found);
}

TEST_P(StoreContract, KnowsWhatIsAbsent) {
  std::string out(8, '\0');
  EXPECT_EQ(store_->head(key("no.yml")).error().code, Code::not_found);
  EXPECT_EQ(store_->read(key("no.yml"), 0, "", out).error().code, Code::not_found);
}

TEST_P(StoreContract, RefusesHostileNames) {
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

TEST_P(StoreContract, JoinsPartsOfEveryLengthAtTheBoundary) {
  for (std::size_t size : {std::size_t{1}, kPartBytes - 1, kPartBytes, kPartBytes + 1, 2 * kPartBytes}) {
    auto bytes = pattern(size, static_cast<unsigned>(size));
    auto name = key(fmt::format("{}.deb", size));
    EXPECT_EQ(committed(name, bytes).size, size);
    EXPECT_EQ(crypto::sha256(whole(name)), crypto::sha256(bytes)) << size;
  }
}

TEST_P(StoreContract, ShowsNothingBeforeTheCommitAndReplacesAtOnce) {
  must(store_->put(key("m.deb"), "old", {}));
  auto bytes = pattern(kPartBytes + 5);
  auto other = staged(key("new.deb"), bytes);
  auto upload = staged(key("m.deb"), bytes);
  EXPECT_EQ(listed(), std::set<std::string>{"m.deb"});
  EXPECT_EQ(store_->head(key("new.deb")).error().code, Code::not_found);
  EXPECT_EQ(whole(key("m.deb")), "old");
  auto made = must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  EXPECT_EQ(made.size, bytes.size());
  EXPECT_EQ(must(store_->head(key("m.deb"))).etag, made.etag);
  EXPECT_TRUE(whole(key("m.deb")) == bytes);
  must(store_->abort(other));
}

TEST_P(StoreContract, TellsWhichPartsAreStaged) {
  auto upload = must(store_->begin(key("s.deb"), 2 * kPartBytes + 3));
  EXPECT_TRUE(must(store_->staged_parts(upload)).empty());
  must(store_->put_part(upload, 1, pattern(kPartBytes), false));
  must(store_->put_part(upload, 2, pattern(kPartBytes, 7), false));
  auto parts = must(store_->staged_parts(upload));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].n, 1u);
  EXPECT_EQ(parts[1].n, 2u);
  EXPECT_EQ(parts[1].size, kPartBytes);
  must(store_->abort(upload));
}

TEST_P(StoreContract, TheSamePartAgainReplaces) {
  auto upload = must(store_->begin(key("again.deb"), kPartBytes + 4));
  must(store_->put_part(upload, 1, pattern(kPartBytes, 1), false));
  must(store_->put_part(upload, 1, pattern(kPartBytes, 1), false));
  must(store_->put_part(upload, 2, "last", true));
  EXPECT_EQ(must(store_->commit(upload, must(store_->staged_parts(upload)), {})).size, kPartBytes + 4);
  EXPECT_TRUE(whole(key("again.deb")) == pattern(kPartBytes, 1) + "last");
}

TEST_P(StoreContract, AnotherProcessGoesOnWithAnUpload) {
  auto bytes = pattern(kPartBytes + 9);
  auto upload = must(store_->begin(key("p.deb"), bytes.size()));
  must(store_->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  auto other = open(settings_);
  EXPECT_EQ(must(other->staged_parts(upload)).size(), 1u);
  must(other->put_part(upload, 2, std::string_view(bytes).substr(kPartBytes), true));
  must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  EXPECT_TRUE(whole(key("p.deb")) == bytes);
}

TEST_P(StoreContract, ACommitAskedTwiceAnswersTheSameObject) {
  auto upload = staged(key("twice.deb"), "small");
  auto parts = must(store_->staged_parts(upload));
  auto first = must(store_->commit(upload, parts, {}));
  auto again = must(store_->commit(upload, parts, {}));
  EXPECT_EQ(first.etag, again.etag);
  EXPECT_EQ(again.size, 5u);
}

TEST_P(StoreContract, AnAbortLeavesNothingToListToStageOrToCommit) {
  auto upload = staged(key("gone.deb"), "bytes");
  auto parts = must(store_->staged_parts(upload));
  must(store_->abort(upload));
  EXPECT_TRUE(listed().empty());
  if (!store_->capabilities().drops_aborted) return;  // there the lane remembers the handle
  EXPECT_FALSE(store_->commit(upload, parts, {}));
  auto revived = store_->staged_parts(upload);
  EXPECT_TRUE(!revived || revived->empty());
  EXPECT_TRUE(listed().empty());
}

TEST_P(StoreContract, AnAbortKeepsTheObjectThatWasThereBefore) {
  must(store_->put(key("kept.deb"), "before", {}));
  must(store_->abort(staged(key("kept.deb"), "after")));
  EXPECT_EQ(whole(key("kept.deb")), "before");
}

TEST_P(StoreContract, TellsWhereItIs) { EXPECT_FALSE(store_->place().empty()); }

// What only a server can refuse, and a network break.
class RemoteStoreContract : public StoreSuite {
 protected:
  bool is_honest_failure(const Error& error) {
    return error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::upstream ||
           error.code == Code::busy;
  }
};

TEST_P(RemoteStoreContract, NamesWrongCredentials) {
  auto stranger = open(GetParam().with_wrong_credentials(settings_));
  auto refused = stranger->list("", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("credentials"), std::string::npos) << refused.error().message;
}

TEST_P(RemoteStoreContract, NamesAServerThatIsNotThere) {
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = "http://127.0.0.1:9";
  EXPECT_EQ(open(settings)->list("", "").error().code, Code::unreachable);
}

TEST_P(RemoteStoreContract, AConnectionCutInAWriteLeavesNothingBehind) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto bytes = pattern(1 << 20);
  proxy.cut_after(300'000, FaultProxy::Direction::to_server);
  auto put = weak->put(key("cut.deb"), bytes, {});
  ASSERT_FALSE(put);
  EXPECT_TRUE(is_honest_failure(put.error())) << put.error().message;
  EXPECT_TRUE(listed().empty());
  proxy.heal();
  must(weak->put(key("cut.deb"), bytes, {}));
  EXPECT_TRUE(whole(key("cut.deb")) == bytes);
}

TEST_P(RemoteStoreContract, AConnectionCutInAReadIsNoShortSuccess) {
  auto bytes = pattern(1 << 20);
  must(store_->put(key("cut.deb"), bytes, {}));
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  proxy.cut_after(300'000, FaultProxy::Direction::to_client);
  std::string out(1 << 20, '\0');
  auto read = weak->read(key("cut.deb"), 0, "", out);
  ASSERT_FALSE(read);
  EXPECT_TRUE(is_honest_failure(read.error())) << read.error().message;
}

TEST_P(RemoteStoreContract, APartCutInTheMiddleCanBeSentAgain) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto bytes = pattern(kPartBytes + 100);
  auto upload = must(weak->begin(key("part.deb"), bytes.size()));
  proxy.cut_after(3'000'000, FaultProxy::Direction::to_server);
  EXPECT_FALSE(weak->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  proxy.heal();
  must(weak->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  must(weak->put_part(upload, 2, std::string_view(bytes).substr(kPartBytes), true));
  must(weak->commit(upload, must(weak->staged_parts(upload)), {}));
  EXPECT_TRUE(whole(key("part.deb")) == bytes);
}

TEST_P(RemoteStoreContract, ACommitWhoseAnswerIsLostCanBeAskedAgain) {
  FaultProxy proxy(*http_, need_variable("TOXIPROXY_URL"),
                   settings_.at(std::string(GetParam().endpoint_key)));
  auto settings = settings_;
  settings[std::string(GetParam().endpoint_key)] = proxy.url();
  auto weak = open(settings);
  auto upload = staged(key("lost.deb"), "bytes");
  auto parts = must(store_->staged_parts(upload));
  proxy.cut_after(1, FaultProxy::Direction::to_client);
  auto lost = weak->commit(upload, parts, {});
  ASSERT_FALSE(lost);
  EXPECT_TRUE(is_honest_failure(lost.error()) || lost.error().code == Code::tls) << lost.error().message;
  proxy.heal();
  EXPECT_EQ(must(weak->commit(upload, parts, {})).size, 5u);
  EXPECT_EQ(listed(), std::set<std::string>{"lost.deb"});
}

class ClockContract : public StoreSuite {};

TEST_P(ClockContract, NamesAWrongClock) {
  FakeClock late("2019-01-01T00:00:00Z");
  auto refused = open(settings_, &late)->list("", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::upstream);
  EXPECT_NE(refused.error().message.find("clock"), std::string::npos) << refused.error().message;
}

std::string test_name(const testing::TestParamInfo<StoreUnderTest>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Every, StoreContract, testing::ValuesIn(all_stores().begin(), all_stores().end()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Clouds, RemoteStoreContract,
                         testing::ValuesIn(cloud_stores().begin(), cloud_stores().end()), test_name);
INSTANTIATE_TEST_SUITE_P(Clouds, ClockContract, testing::ValuesIn(clock_checking_stores()), test_name);

}  // namespace

void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }

}  // namespace dash::storage
