#include "core/storage/store/http_object_store.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

// Answers each request with what the test has put down, and writes no object.
class AnsweringStore final : public HttpObjectStore {
 public:
  std::string place() const override { return "https://store.test/bucket"; }
  Result<ObjectPage> list(std::string_view, std::string_view) override { return ObjectPage{}; }
  Result<Object> put(const std::string&, const Payload&, const PutOptions&) override { return no(); }
  Result<void> remove(const std::string&) override { return no(); }
  Result<std::string> begin(const std::string&, std::optional<std::uint64_t>) override { return no(); }
  Result<std::string> put_part(const std::string&, std::uint32_t, const Payload&, bool) override {
    return no();
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string&) override { return no(); }
  Result<Object> commit(const std::string&, const std::vector<StagedPart>&, const PutOptions&) override {
    return no();
  }
  Result<void> abort(const std::string&) override { return no(); }

  Result<net::HttpResponse> of_head = no(), of_get = no();
  int requests = 0;

 private:
  static Failure no() { return fail(Code::unsupported, "not here"); }
  Result<net::HttpResponse> send_head(const std::string&) override {
    ++requests;
    return of_head;
  }
  Result<net::HttpResponse> send_get(const std::string&, ByteRange, std::string_view, Sink&) override {
    ++requests;
    return of_get;
  }
  Object describe(const std::string& key, const net::HttpResponse& answer) const override {
    return describe_by_headers(key, answer, "x-digest");
  }
};

const net::Headers kHeaders{{"Content-Length", "7"},
                            {"ETag", "\"e1\""},
                            {"Last-Modified", "Fri, 03 Jul 2026 14:00:00 GMT"},
                            {"x-digest", "p8:aa"}};

TEST(HttpObjectStore, DescribesAnObjectByTheHeadersOfItsHead) {
  AnsweringStore store;
  store.of_head = net::HttpResponse{200, kHeaders, "", 0};
  auto object = store.head("p/x");
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->key, "p/x");
  EXPECT_EQ(object->size, 7u);
  EXPECT_EQ(object->etag, "\"e1\"");
  EXPECT_EQ(object->digest, "p8:aa");
  EXPECT_EQ(format_iso(object->modified), "2026-07-03T14:00:00Z");
}

TEST(HttpObjectStore, NamesPlaceAndKeyOfAnObjectWithoutASize) {
  AnsweringStore store;
  store.of_head = net::HttpResponse{200, {}, "", 0};
  EXPECT_EQ(store.head("p/x").error().message,
            "https://store.test/bucket, 'p/x': the object came without its size");
}

TEST(HttpObjectStore, OpensWithOneRequestAndAnEmptyObjectWithTwo) {
  AnsweringStore store;
  std::array<char, 4> front{};
  store.of_get = net::HttpResponse{206, {{"Content-Range", "bytes 0-3/9"}}, "", 4};
  auto opened = store.open("p/x", front);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->object.size, 9u);
  EXPECT_EQ(opened->size, 4u);
  EXPECT_EQ(store.requests, 1);

  store.of_get = fail(Code::bad_range, "empty");
  store.of_head = net::HttpResponse{200, {{"Content-Length", "0"}}, "", 0};
  opened = store.open("p/x", front);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->size, 0u);
  EXPECT_EQ(store.requests, 3);
}

TEST(HttpObjectStore, RefusesARangeThatBeginsElsewhere) {
  AnsweringStore store;
  std::array<char, 4> out{};
  SpanWriter writer(out);
  store.of_get = net::HttpResponse{206, {{"Content-Range", "bytes 5-8/9"}}, "", 4};
  EXPECT_EQ(store.open("p/x", out).error().code, Code::upstream);
  EXPECT_EQ(store.read("p/x", {50, 4}, "", writer).error().code, Code::upstream);
  EXPECT_EQ(must(store.read("p/x", {5, 4}, "", writer)), 4u);
}

TEST(HttpObjectStore, ReadsNothingBeyondTheEndAndNotFromAStoreWithoutRanges) {
  AnsweringStore store;
  std::array<char, 4> out{};
  store.of_get = fail(Code::bad_range, "beyond");
  SpanWriter writer(out);
  EXPECT_EQ(store.read("p/x", {100, 4}, "", writer).value(), 0u);
  store.of_get = net::HttpResponse{200, {}, "", 4};
  EXPECT_EQ(store.read("p/x", {100, 4}, "", writer).error().code, Code::upstream);
}

TEST(HttpObjectStore, SendsNoRequestForABadKey) {
  AnsweringStore store;
  std::array<char, 4> out{};
  EXPECT_FALSE(store.head("../x"));
  EXPECT_FALSE(store.open("../x", out));
  SpanWriter writer(out);
  EXPECT_FALSE(store.read("../x", {0, 4}, "", writer));
  EXPECT_EQ(store.requests, 0);
}

}  // namespace
}  // namespace dash::storage
