#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

// `pieces` of 100,000 bytes, then the end or an error.
class Pieces final : public ResponseBody {
 public:
  Pieces(int pieces, bool sized, bool fails, int really)
      : pieces_(pieces), really_(really), sized_(sized), fails_(fails) {}
  std::optional<std::uint64_t> size() const override {
    if (!sized_) return std::nullopt;
    return static_cast<std::uint64_t>(pieces_) * 100'000;
  }
  Result<std::size_t> read(std::span<char> into) override {
    if (given_ == really_ && fails_) return fail(Code::upstream, "the store went away");
    if (given_ == really_) return std::size_t{0};
    ++given_;
    std::fill_n(into.begin(), 100'000, 'y');
    return std::size_t{100'000};
  }

 private:
  int pieces_, really_, given_ = 0;
  bool sized_, fails_;
};

Route source_route(int pieces, bool sized, bool fails, int really) {
  return {.pattern = "/api/source", .auth = Auth::anybody, .handler = [=](Request&) -> Result<Response> {
            Response response;
            response.content_type = "application/octet-stream";
            response.source = std::make_unique<Pieces>(pieces, sized, fails, really);
            return response;
          }};
}

TEST(BodySource, IsSentWithItsLengthOrInChunks) {
  for (bool sized : {true, false}) {
    Running running({source_route(50, sized, false, 50)});
    RawClient client(running.port());
    for (int i = 0; i < 2; ++i) {
      auto answer = client.ask(get("/api/source"));
      EXPECT_EQ(answer.headers.contains("content-length"), sized);
      EXPECT_TRUE(answer.whole);
      EXPECT_EQ(answer.body.size(), 5'000'000u);
    }
    client.send("HEAD /api/source HTTP/1.1\r\nHost: t\r\n\r\n" + get("/api/source"));
    EXPECT_EQ(client.receive(/*to_head=*/true).status, 200);
    EXPECT_EQ(client.receive().body.size(), 5'000'000u);
  }
}

TEST(BodySource, AnErrorOrAShortBodyCutsTheConnectionAndNeverEndsCleanly) {
  for (bool sized : {true, false}) {
    Running running({source_route(50, sized, true, 3)});
    auto answer = ask(running.port(), get("/api/source"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.whole) << sized;
    EXPECT_EQ(running.log.count("the store went away"), 1u);
  }
  for (int really : {49, 51}) {
    Running running({source_route(50, /*sized=*/true, false, really)});
    EXPECT_FALSE(ask(running.port(), get("/api/source")).whole && really < 50);
    EXPECT_EQ(running.log.count("not as long as was said"), really < 50 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace dash::daemon
