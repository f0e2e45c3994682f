// Requests that a server behind a proxy must refuse, because the two could disagree about where one request
// ends and the next begins. Each is answered 400 by us, once, and the connection ends: what follows is never
// taken for a second request.
#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

struct Hostile {
  const char* name;
  std::string bytes;
};

std::vector<Hostile> hostile_requests() {
  const std::string smuggled = get("/api/hello");
  const std::string put = "POST /api/echo HTTP/1.1\r\nHost: x\r\n";
  return {
      {"negative chunk size", put + "Transfer-Encoding: chunked\r\n\r\n-2\r\nzz" + smuggled},
      {"no chunk size", put + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"},
      {"chunk size that overflows",
       put + "Transfer-Encoding: chunked\r\n\r\n1ffffffffffffffff\r\nzz" + smuggled},
      {"chunk without its CRLF", put + "Transfer-Encoding: chunked\r\n\r\n2\r\nzzzz0\r\n\r\n" + smuggled},
      {"chunk header without an end",
       put + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(80'000, 'a')},
      {"length and chunks",
       put + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"chunks and length",
       put + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled},
      {"two lengths that differ", put + "Content-Length: 5\r\nContent-Length: 0\r\n\r\nabcde" + smuggled},
      {"two lengths in one", put + "Content-Length: 5, 0\r\n\r\nabcde" + smuggled},
      {"one length twice in one", put + "Content-Length: 5, 5\r\n\r\nabcde" + smuggled},
      {"two lengths that agree", put + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde" + smuggled},
      {"negative length", put + "Content-Length: -1\r\n\r\n" + smuggled},
      {"length with a sign", put + "Content-Length: +5\r\n\r\nabcde" + smuggled},
      {"length in hex", put + "Content-Length: 0x5\r\n\r\nabcde" + smuggled},
      {"length that overflows", put + "Content-Length: 99999999999999999999\r\n\r\n" + smuggled},
      {"two transfer codings", put + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"chunked twice",
       put + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"unknown transfer coding", put + "Transfer-Encoding: identity\r\n\r\n" + smuggled},
      {"hidden transfer coding", put + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"chunks in HTTP/1.0",
       "POST /api/echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
      {"folded header", "GET /api/hello HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n 2\r\n\r\n" + smuggled},
      {"folded first header", "GET /api/hello HTTP/1.1\r\n Host: x\r\n\r\n" + smuggled},
      {"bare line feeds", "GET /api/hello HTTP/1.1\nHost: x\n\n" + smuggled},
      {"one bare line feed", "GET /api/hello HTTP/1.1\r\nHost: x\nX-B: 1\r\n\r\n" + smuggled},
      {"bare carriage return", "GET /api/hello HTTP/1.1\r\nHost: x\rX-B: 1\r\n\r\n" + smuggled},
      {"two authorizations",
       "GET /api/hello HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nauthorization: a\r\n\r\n" + smuggled},
      {"NUL in a header", std::string("GET /api/hello HTTP/1.1\r\nHost: x\0y\r\n\r\n", 38) + smuggled},
      {"blank before the colon", "GET /api/hello HTTP/1.1\r\nHost : x\r\n\r\n" + smuggled},
      {"header without a colon", "GET /api/hello HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n" + smuggled},
      {"header without a name", "GET /api/hello HTTP/1.1\r\nHost: x\r\n: 1\r\n\r\n" + smuggled},
      {"no host", "GET /api/hello HTTP/1.1\r\n\r\n" + smuggled},
      {"two hosts", "GET /api/hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + smuggled},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {"HTTP/0.9", "GET /api/hello\r\n\r\n"},
      {"blank in the target", "GET /api/ hello HTTP/1.1\r\nHost: x\r\n\r\n" + smuggled},
      {"TLS to a plain port", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)},
  };
}

TEST(HostileRequest, IsAnsweredOnceWith400AndTheConnectionEnds) {
  Running running({hello(), echo()});
  for (const auto& hostile : hostile_requests()) {
    RawClient client(running.port());
    auto answer = client.ask(hostile.bytes);
    EXPECT_EQ(answer.status, 400) << hostile.name << " " << answer.body;
    EXPECT_EQ(answer.headers["connection"], "close") << hostile.name;
    EXPECT_TRUE(client.closed()) << hostile.name;
  }
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
}

TEST(HostileRequest, AHeaderWithoutAnEndIs431) {
  Running running({hello()});
  RawClient client(running.port());
  auto answer = client.ask("GET /api/hello HTTP/1.1\r\nHost: x\r\nX-A: " + std::string(17'000, 'a'));
  EXPECT_EQ(answer.status, 431) << answer.body;
  EXPECT_TRUE(client.closed());
}

TEST(HostileRequest, AFloodOfHeadersIsCutAt16KiB) {
  Running running({hello()});
  RawClient client(running.port());
  std::string flood = "GET /api/hello HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 20'000; ++i) flood += "X-" + std::to_string(i) + ": " + std::string(100, 'v') + "\r\n";
  client.send(flood);
  EXPECT_EQ(client.receive().status, 431);
}

TEST(HostileRequest, AHeadOfAlmost16KiBIsFine) {
  Running running({hello()});
  auto head =
      "GET /api/hello HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + std::string(16'000, 'a') + "\r\n\r\n";
  EXPECT_EQ(ask(running.port(), head).status, 200);
}

TEST(ChunkedBody, IsDecodedWithExtensionsAndTrailersAndTheNextRequestFollows) {
  Running running({hello(), echo()});
  RawClient client(running.port());
  client.send(
      "POST /api/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;a=b\r\none\r\n5\r\n, two\r\n0\r\nX-Sum: 1\r\n\r\n" +
      get("/api/hello"));
  EXPECT_EQ(client.receive().body, "one, two");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(ChunkedBody, ArrivesWholeByteByByte) {
  Running running({echo()});
  RawClient client(running.port());
  for (char c : std::string("POST /api/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                            "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"))
    ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_EQ(client.receive().body, "abc");
}

}  // namespace
}  // namespace dash::daemon
