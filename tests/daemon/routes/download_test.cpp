// What a download answers, by its head alone and byte by byte, over a store in memory.
#include "daemon/routes/download.hpp"

#include <gtest/gtest.h>

#include "core/storage/store/part_layout.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::daemon {
namespace {

using storage::FindResult;
using storage::Prefetched;

class Download : public testing::Test {
 protected:
  void put(const std::string& bytes) { must(world_.store().put("config-mgmt/dir/ü a.sh", bytes, {})); }
  FindResult found() { return must(one_.assets.find(world_.ann, "", "dir/ü a.sh")); }
  Request asked(const Headers& headers, bool is_head = false) {
    Request request;
    request.method = "GET";
    request.is_head = is_head;
    request.headers = headers;
    return request;
  }
  Result<Response> raw(const Headers& headers = {}) {
    return raw_download(found(), Prefetched(), asked(headers), {one_.buffers, world_.clock});
  }
  // An asset with that recorded size.
  FindResult found_of(std::uint64_t size) {
    put("");
    auto one = found();
    one.object.size = size;
    return one;
  }
  // All of the body, taken in pieces that fit nothing.
  static std::string body_of(Response& response) {
    std::string all, piece(1000, '\0');
    while (auto n = must(response.source->read(piece))) all += piece.substr(0, n);
    EXPECT_EQ(response.source->size(), all.size());
    return all;
  }
  static std::string header(const Response& response, std::string_view name) {
    return response.headers.get(name).value_or("");
  }
  storage::StorageFixture world_;
  storage::Replica one_{world_};
};

TEST_F(Download, TellsTheNameTheVersionAndNothingToGuess) {
  put("0123456789");
  auto whole = must(raw());
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.content_type, "application/octet-stream");
  EXPECT_EQ(header(whole, "Accept-Ranges"), "bytes");
  EXPECT_EQ(header(whole, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(whole, "Content-Disposition"), "attachment; filename*=UTF-8''%C3%BC%20a.sh");
  auto tag = header(whole, "ETag");
  EXPECT_TRUE(tag.size() > 2 && tag.front() == '"' && tag.back() == '"') << tag;
  EXPECT_EQ(body_of(whole), "0123456789");
}

TEST_F(Download, GivesTheRangeThatWasAskedFor) {
  std::string bytes(kPartBytes + 10, 'a');
  bytes.replace(kPartBytes - 2, 4, "WXYZ");
  put(bytes);
  auto piece = must(raw({{"Range", fmt::format("bytes={}-{}", kPartBytes - 2, kPartBytes + 1)}}));
  EXPECT_EQ(piece.status, 206);
  EXPECT_EQ(header(piece, "Content-Range"),
            fmt::format("bytes {}-{}/{}", kPartBytes - 2, kPartBytes + 1, bytes.size()));
  EXPECT_EQ(body_of(piece), "WXYZ");
  auto beyond = must(raw({{"Range", fmt::format("bytes={}-", bytes.size())}}));
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(header(beyond, "Content-Range"), fmt::format("bytes */{}", bytes.size()));
  EXPECT_FALSE(beyond.source);
}

TEST_F(Download, HoldsTheConditionsOfAResumedDownload) {
  put("0123456789");
  auto tag = header(must(raw()), "ETag");
  EXPECT_EQ(must(raw({{"If-None-Match", "\"x\", " + tag}})).status, 304);
  EXPECT_EQ(must(raw({{"If-None-Match", "W/" + tag}})).status, 304);
  EXPECT_EQ(must(raw({{"If-Match", tag}, {"Range", "bytes=9-"}})).status, 206);
  EXPECT_EQ(must(raw({{"If-Range", tag}, {"Range", "bytes=9-"}})).status, 206);
  EXPECT_EQ(must(raw({{"If-Range", "\"x\""}, {"Range", "bytes=9-"}})).status, 200);
  EXPECT_EQ(raw({{"If-Match", "\"x\""}}).error().code, Code::precondition);
}

TEST_F(Download, AnAssetThatIsReplacedMeanwhileIsCutAndNeverMixed) {
  put(std::string(2 * kPartBytes, 'a'));
  auto response = must(raw());
  std::string piece(1000, '\0');
  must(response.source->read(piece));
  put(std::string(2 * kPartBytes, 'b'));
  auto cut = [&]() -> Result<void> {
    while (TRY(response.source->read(piece)) > 0) EXPECT_EQ(piece[0], 'a');
    return {};
  }();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Code::precondition);
}

TEST_F(Download, ReadsAgainWhatIsReplacedBeforeItsFirstByte) {
  for (bool is_raw : {true, false}) {
    put("old");
    int finds = 0;
    auto find = [&]() -> Result<std::pair<FindResult, Prefetched>> {
      auto one = found();
      if (++finds <= 3) put(fmt::format("new {}", finds));
      return std::pair(std::move(one), Prefetched());
    };
    auto response = must(download(find, is_raw, asked({}), {one_.buffers, world_.clock}));
    EXPECT_EQ(finds, 4);
    auto body = body_of(response);
    EXPECT_NE(body.find(is_raw ? "new 3" : crypto::to_base64("new 3")), body.npos) << body;
  }
}

TEST_F(Download, TellsOfAReplacementOnlyWhoNamesAVersion) {
  put("old");
  auto replaced = [&]() -> Result<std::pair<FindResult, Prefetched>> {
    auto one = found();
    put(world_.store().head("config-mgmt/dir/ü a.sh")->size == 3 ? "newer" : "old");
    return std::pair(std::move(one), Prefetched());
  };
  auto tag = header(must(raw()), "ETag");
  DownloadDeps deps{one_.buffers, world_.clock};
  EXPECT_EQ(download(replaced, true, asked({{"If-Match", tag}}), deps).error().code, Code::precondition);
  auto never_still = download(replaced, true, asked({}), deps);
  EXPECT_EQ(never_still.error().code, Code::busy);
  EXPECT_TRUE(never_still.error().retry_after);
  EXPECT_EQ(must(download(replaced, true, asked({}, /*is_head=*/true), deps)).status, 200);
}

TEST_F(Download, AsJsonTheContentIsWholeWhateverItsLength) {
  for (std::size_t size : {0u, 1u, 2u, 3u, (48u << 10) - 1, 48u << 10, (48u << 10) + 1, 200'000u}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31);
    put(bytes);
    auto response = must(json_download(found(), Prefetched(), asked({}), {one_.buffers, world_.clock}));
    auto json = must(parse_json(body_of(response)));
    EXPECT_EQ(json["name"], "dir/ü a.sh");
    EXPECT_EQ(json["size"], size);
    EXPECT_EQ(crypto::from_base64(json["content_b64"].get<std::string>()).value(), bytes) << size;
  }
}

TEST_F(Download, AsJsonEndsAtTheInlineCeilingAndNamesTheOtherWay) {
  auto above = found_of(storage::kMaxInlineBytes + 1);
  auto refused = json_download(std::move(above), Prefetched(), asked({}), {one_.buffers, world_.clock});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_NE(refused.error().message.find("raw=1"), std::string::npos);
  auto head = json_download(found_of(storage::kMaxInlineBytes), Prefetched(), asked({}, /*is_head=*/true),
                            {one_.buffers, world_.clock});
  EXPECT_TRUE(head);
}

TEST_F(Download, OnlyAPlainDownloadFromTheStartIsOpenedWithItsFirstBytes) {
  EXPECT_TRUE(reads_from_start(asked({})));
  EXPECT_TRUE(reads_from_start(asked({{"Range", "bytes=0-99"}})));
  EXPECT_FALSE(reads_from_start(asked({}, /*is_head=*/true)));
  for (const Headers& headers :
       {Headers{{"Range", "bytes=1-"}}, Headers{{"Range", "bytes=-1"}}, Headers{{"If-Match", "*"}},
        Headers{{"If-None-Match", "*"}}, Headers{{"If-Range", "\"x\""}}})
    EXPECT_FALSE(reads_from_start(asked(headers)));
}

}  // namespace
}  // namespace dash::daemon
