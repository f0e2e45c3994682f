#include "core/storage/store/redacting_store.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

std::string shown(const std::string& message, std::string_view place = "http://10.0.0.7:9000/bucket") {
  return redact_addresses({.code = Code::upstream, .message = message}, place).message;
}

// A store whose calls all fail like a real one's.
class FailingStore final : public ObjectStore {
 public:
  std::string place() const override { return "https://s3.corp.example:9000/secret-bucket"; }
  Result<ObjectPage> list(std::string_view, std::string_view) override { return failure(); }
  Result<Object> head(const std::string&) override { return failure(); }
  Result<std::uint64_t> read(const std::string&, ByteRange, std::string_view, RandomWriter&) override {
    return failure();
  }
  Result<Object> put(const std::string&, const Payload&, const PutOptions&) override { return failure(); }
  Result<void> remove(const std::string&) override { return failure(); }
  Result<std::string> begin(const std::string&, std::optional<std::uint64_t>) override { return failure(); }
  Result<std::string> put_part(const std::string&, std::uint32_t, const Payload&, bool) override {
    return failure();
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string&) override { return failure(); }
  Result<Object> commit(const std::string&, const std::vector<StagedPart>&, const PutOptions&) override {
    return failure();
  }
  Result<void> abort(const std::string&) override { return failure(); }
  Result<VersionsResult> versions(const std::string&) override { return failure(); }

 private:
  Failure failure() const { return fail(Code::upstream, "{}: reading 'x': refused (403)", place()); }
};

}  // namespace

TEST(ConcealedError, SaysWhatHappenedAndNotWhere) {
  EXPECT_EQ(shown("http://10.0.0.7:9000/bucket: reading 'a.yml': the store refused (403 AccessDenied)"),
            "the store: reading 'a.yml': the store refused (403 AccessDenied)");
  EXPECT_EQ(shown("cannot reach https://s3.corp.example:9000: refused"), "cannot reach the store: refused");
  EXPECT_EQ(shown("'file:///srv/assets' does not exist"), "'the store' does not exist");
  EXPECT_EQ(shown("\\\\files\\share\\deep: access denied"), "the store: access denied");
  EXPECT_EQ(shown("connect to 10.0.0.7:9000 failed"), "connect to the store failed");
  EXPECT_EQ(shown("connect to 10.0.0.7 port 9000 failed"), "connect to the store failed");
  EXPECT_EQ(shown("cannot reach https://login.example: could not resolve host login.example"),
            "cannot reach the store: could not resolve host the store");
  EXPECT_EQ(shown("one http://h1/b, two ftp://h2. End"), "one the store, two the store. End");
}

TEST(ConcealedError, LeavesEverythingElseAsItIsAndKeepsTheWholeForTheLog) {
  for (auto message : {"Asset 'a.yml' not found.", "part 3 is missing in the store", "a:b //c \\d", ""})
    EXPECT_EQ(shown(message), message);
  EXPECT_EQ(shown("s3 is s3x", "http://s3/b"), "the store is s3x");
  EXPECT_EQ(shown("cannot reach https://b.s3.example: no host b.s3.example", "https://s3.example/b"),
            "cannot reach the store: no host the store");
  auto error = redact_addresses({.code = Code::busy,
                                 .message = "http://a/b: slow down",
                                 .detail = "curl 28",
                                 .retry_after = std::chrono::seconds(3)},
                                "");
  EXPECT_EQ(error.code, Code::busy);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(3));
  EXPECT_EQ(error.detail, "curl 28; http://a/b: slow down");
}

TEST(RedactingStore, HidesItsAddressFromEverybodyButAdminsInEveryCall) {
  StorageFixture world;
  world.other_store = std::make_shared<FailingStore>();
  Replica one(world);
  Stores& stores = one.storage.stores();
  auto at = must(stores.open(world.ann, ""));
  auto& store = *at.store;
  std::vector<std::string> messages{store.list("", "").error().message,
                                    store.head("x").error().message,
                                    store.open("x", {}).error().message,
                                    store.put("x", "", {}).error().message,
                                    store.remove("x").error().message,
                                    store.begin("x", 1).error().message,
                                    store.put_part("u", 1, "", true).error().message,
                                    store.staged_parts("u").error().message,
                                    store.commit("u", {}, {}).error().message,
                                    store.abort("u").error().message,
                                    store.versions("x").error().message,
                                    one.assets.list(world.ann).error().message,
                                    one.assets.find(world.ann, "", "x").error().message,
                                    one.uploads.begin(world.ann, "a.rpm", 1).error().message};
  for (const auto& message : messages) {
    EXPECT_EQ(message.find("s3.corp"), message.npos) << message;
    EXPECT_EQ(message.find("secret-bucket"), message.npos) << message;
    EXPECT_NE(message.find("refused (403)"), message.npos) << message;
  }
  EXPECT_NE(one.assets.list(world.admin).error().message.find("s3.corp"), std::string::npos);
}

}  // namespace dash::storage
