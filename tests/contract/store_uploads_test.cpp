// Uploads in parts: boundaries, order, commit, abort.
#include <thread>

#include "tests/contract/store_suite.hpp"

namespace dash::storage {
namespace {

class StoreUploadsContract : public StoreSuite {};

TEST_P(StoreUploadsContract, JoinsPartsOfEveryLengthAtTheBoundary) {
  for (std::size_t size : {std::size_t{1}, kPartBytes - 1, kPartBytes, kPartBytes + 1, 2 * kPartBytes}) {
    auto bytes = pattern(size, static_cast<unsigned>(size));
    auto name = key(fmt::format("{}.deb", size));
    EXPECT_EQ(committed(name, bytes).size, size);
    EXPECT_EQ(crypto::sha256(whole(name)), crypto::sha256(bytes)) << size;
  }
}

TEST_P(StoreUploadsContract, ShowsNothingBeforeTheCommitAndReplacesAtOnce) {
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

TEST_P(StoreUploadsContract, TellsWhichPartsAreStaged) {
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

TEST_P(StoreUploadsContract, TheSamePartAgainReplaces) {
  auto upload = must(store_->begin(key("again.deb"), kPartBytes + 4));
  must(store_->put_part(upload, 1, pattern(kPartBytes, 1), false));
  must(store_->put_part(upload, 1, pattern(kPartBytes, 1), false));
  must(store_->put_part(upload, 2, "last", true));
  EXPECT_EQ(must(store_->commit(upload, must(store_->staged_parts(upload)), {})).size, kPartBytes + 4);
  EXPECT_TRUE(whole(key("again.deb")) == pattern(kPartBytes, 1) + "last");
}

TEST_P(StoreUploadsContract, AnotherProcessGoesOnWithAnUpload) {
  auto bytes = pattern(kPartBytes + 9);
  auto upload = must(store_->begin(key("p.deb"), bytes.size()));
  must(store_->put_part(upload, 1, std::string_view(bytes).substr(0, kPartBytes), false));
  auto other = open(settings_);
  EXPECT_EQ(must(other->staged_parts(upload)).size(), 1u);
  must(other->put_part(upload, 2, std::string_view(bytes).substr(kPartBytes), true));
  must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  EXPECT_TRUE(whole(key("p.deb")) == bytes);
}

TEST_P(StoreUploadsContract, ACommitAskedTwiceAnswersTheSameObject) {
  auto upload = staged(key("twice.deb"), "small");
  auto parts = must(store_->staged_parts(upload));
  auto first = must(store_->commit(upload, parts, {}));
  auto again = must(store_->commit(upload, parts, {}));
  EXPECT_EQ(first.etag, again.etag);
  EXPECT_EQ(again.size, 5u);
}

TEST_P(StoreUploadsContract, AnAbortLeavesNothingToListToStageOrToCommit) {
  auto upload = staged(key("gone.deb"), "bytes");
  auto parts = must(store_->staged_parts(upload));
  must(store_->abort(upload));
  EXPECT_TRUE(listed().empty());
  if (!store_->capabilities().drops_aborted) return;  // there ChunkedUploads records the handle
  EXPECT_FALSE(store_->commit(upload, parts, {}));
  auto revived = store_->staged_parts(upload);
  EXPECT_TRUE(!revived || revived->empty());
  EXPECT_TRUE(listed().empty());
}

TEST_P(StoreUploadsContract, AnAbortKeepsTheObjectThatWasThereBefore) {
  must(store_->put(key("kept.deb"), "before", {}));
  must(store_->abort(staged(key("kept.deb"), "after")));
  EXPECT_EQ(whole(key("kept.deb")), "before");
}

TEST_P(StoreUploadsContract, TheLastPartMayTellTheSize) {
  auto bytes = pattern(2 * kPartBytes + 3);
  auto upload = must(store_->begin(key("u.deb"), std::nullopt));
  for (std::uint32_t n = 1; n <= 3; ++n)
    must(store_->put_part(upload, n, std::string_view(bytes).substr((n - 1) * kPartBytes, kPartBytes),
                          n == 3));
  EXPECT_EQ(must(store_->commit(upload, must(store_->staged_parts(upload)), {})).size, bytes.size());
  EXPECT_TRUE(whole(key("u.deb")) == bytes);
}

TEST_P(StoreUploadsContract, TakesPartsSideBySideWhereItSaysSo) {
  if (!store_->capabilities().is_parallel) return;  // it needs them in order: ChunkedUploads' tests
  auto bytes = pattern(4 * kPartBytes);
  auto upload = must(store_->begin(key("side.deb"), bytes.size()));
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t n = 4; n >= 1; --n)
      threads.emplace_back([&, n] {
        auto part = std::string_view(bytes).substr((n - 1) * kPartBytes, kPartBytes);
        EXPECT_TRUE(store_->put_part(upload, n, part, n == 4));
      });
  }
  must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  EXPECT_TRUE(whole(key("side.deb")) == bytes);
}

INSTANTIATE_TEST_SUITE_P(Every, StoreUploadsContract,
                         testing::ValuesIn(all_stores().begin(), all_stores().end()), test_name);

}  // namespace
}  // namespace dash::storage
