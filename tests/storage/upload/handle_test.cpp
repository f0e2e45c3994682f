#include "core/storage/upload/handle.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"

namespace dash::storage {
namespace {

const Secret kKey(std::string(32, 'k'));
const Secret kOther(std::string(32, 'o'));

Handle example(const Clock& clock) {
  return {"0123456789abcdef0123456789abcdef",
          "ann",
          "obj_cloud1",
          "http://s3.example/bucket",
          "big.rpm",
          9'000'000'000,
          "upload-id",
          clock.now()};
}

TEST(UploadHandle, ComesBackWholeToTheUserWhoBegan) {
  FakeClock clock;
  auto handle = open_handle(kKey, seal_handle(kKey, example(clock)), "ann", clock.now()).value();
  EXPECT_EQ(handle.name, "big.rpm");
  EXPECT_EQ(handle.size, 9'000'000'000u);
  EXPECT_EQ(handle.ref, "upload-id");
  EXPECT_EQ(handle.backend, "obj_cloud1");
  EXPECT_EQ(handle.place, "http://s3.example/bucket");
}

TEST(UploadHandle, IsGoodForTwelveHoursFromBegin) {
  FakeClock clock;
  auto text = seal_handle(kKey, example(clock));
  clock.advance(std::chrono::hours(12) - std::chrono::seconds(1));
  EXPECT_TRUE(open_handle(kKey, text, "ann", clock.now()));
  clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(open_handle(kKey, text, "ann", clock.now()));
}

TEST(UploadHandle, IsExpiredWhenItWasIssuedAheadOfAClockThatWasPutRight) {
  FakeClock clock;
  auto text = seal_handle(kKey, example(clock));
  auto issued = clock.now();
  EXPECT_TRUE(open_handle(kKey, text, "ann", issued - std::chrono::minutes(5)));
  EXPECT_FALSE(open_handle(kKey, text, "ann", issued - std::chrono::minutes(5) - std::chrono::seconds(1)));
  EXPECT_FALSE(open_handle(kKey, text, "ann", issued - std::chrono::hours(24 * 365)));
  EXPECT_FALSE(open_handle(kKey, text, "ann", issued + std::chrono::hours(24 * 365)));
  EXPECT_TRUE(open_handle(kKey, text, "ann", issued));
}

TEST(UploadHandle, RefusesOtherUsersOtherKeysAndEveryChangedByteWithOneSentence) {
  FakeClock clock;
  auto text = seal_handle(kKey, example(clock));
  auto refusal = open_handle(kKey, text, "bob", clock.now()).error();
  EXPECT_EQ(refusal.code, Code::invalid);
  EXPECT_EQ(open_handle(kOther, text, "ann", clock.now()).error().message, refusal.message);
  EXPECT_FALSE(open_handle(kKey, text, "", clock.now()));
  EXPECT_FALSE(open_handle(kKey, "", "ann", clock.now()));
  EXPECT_FALSE(open_handle(kKey, R"({"user":"ann"})", "ann", clock.now()));
  EXPECT_FALSE(open_handle(kKey, std::string(1 << 20, 'A'), "ann", clock.now()));
  for (std::size_t i = 0; i < text.size(); i += 7) {
    auto changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(open_handle(kKey, changed, "ann", clock.now())) << i;
  }
}

}  // namespace
}  // namespace dash::storage
