#include <atomic>

#include "tests/daemon/running.hpp"

namespace dash::daemon {
namespace {

Error refused() { return make_error(Code::forbidden, "not yours"); }
using CheckHead = std::function<Result<void>(Request&)>;

// PUT /api/part: stores the size and the ends of the part.
Route part_route(CheckHead check = {}) {
  Handler store = [](Request& request) -> Result<Response> {
    auto ends = request.body.empty() ? "" : fmt::format("{}{}", request.body.front(), request.body.back());
    return json_response(200, OrderedJson{{"bytes", request.body.size()}, {"ends", ends}});
  };
  Route route{.method = "PUT",
              .pattern = "/api/part",
              .auth = Auth::anybody,
              .body = Body::part,
              .max_body = kPartBytes,
              .pool = Pool::store};
  if (!check) {
    route.handler = std::move(store);
    return route;
  }
  route.admit = [check = std::move(check), store](Request& request) -> Result<Handler> {
    TRY(check(request));
    return store;
  };
  return route;
}

// Admits everything, and the gate counts it.
CheckHead passing(Gate& gate) {
  return [&gate](Request&) -> Result<void> {
    gate.pass();
    return {};
  };
}

std::string put_head(std::size_t length, std::string_view headers = "") {
  return fmt::format("PUT /api/part HTTP/1.1\r\nHost: t\r\n{}Content-Length: {}\r\n\r\n", headers, length);
}

TEST(PartBody, ArrivesWholeInOneBufferThatGoesBack) {
  Running running({part_route()}, {}, /*part_count=*/1);
  RawClient client(running.port());
  for (int i = 0; i < 3; ++i) {
    auto answer = client.ask(put_head(kPartBytes) + "a" + std::string(kPartBytes - 2, 'x') + "z");
    EXPECT_EQ(answer.body, R"({"bytes":8388608,"ends":"az"})");
  }
  EXPECT_EQ(client.ask(put_head(0)).body, R"({"bytes":0,"ends":""})");
  EXPECT_EQ(running.buffers.available(), 1u);
}

TEST(PartBody, NeedsALengthOfAtMostOnePart) {
  Running running({part_route()});
  EXPECT_EQ(
      ask(running.port(), "PUT /api/part HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
          .status,
      411);
  EXPECT_EQ(ask(running.port(), put_head(kPartBytes + 1)).status, 413);
}

TEST(PartBody, IsAdmittedBeforeAByteOfItIsRead) {
  std::atomic<std::uint64_t> declared = 0;
  Running running({part_route([&](Request& request) -> Result<void> {
    declared = request.content_length.value_or(0);
    EXPECT_FALSE(request.buffer);
    return Failure(refused());
  })});
  RawClient client(running.port());
  auto answer = client.ask(put_head(kPartBytes));  // and no body at all
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.headers["connection"], "close");
  EXPECT_EQ(declared, kPartBytes);
}

TEST(PartBody, ARefusalIsReadableByAClientThatGoesOnSending) {
  Running running({part_route([](Request&) -> Result<void> { return Failure(refused()); })});
  RawClient client(running.port());
  ASSERT_TRUE(client.send(put_head(kPartBytes)));
  ASSERT_TRUE(client.send(std::string(kPartBytes - 1, 'x')));  // far more than the socket buffers hold
  EXPECT_EQ(client.receive().status, 403);
}

TEST(PartBody, ARefusalOfASmallBodyThatIsAlreadyHereKeepsTheConnection) {
  Running running({part_route([](Request&) -> Result<void> { return Failure(refused()); }), hello()});
  RawClient client(running.port());
  client.send(put_head(5) + "12345" + get("/api/hello"));
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(PartBody, WaitsForABufferAndThenSaysWhenToComeAgain) {
  ServerOptions options;
  options.limits.part_timeout = std::chrono::milliseconds(1);
  Running running({part_route()}, options, /*part_count=*/1);
  auto taken = running.buffers.try_acquire();
  auto answer = ask(running.port(), put_head(5) + "12345");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers["retry-after"], "2");
}

TEST(PartBody, GoesOnWhenABufferComesBackInTime) {
  Gate admitted;
  admitted.open();
  Running running({part_route(passing(admitted))}, {}, /*part_count=*/1);
  auto taken = running.buffers.try_acquire();
  RawClient client(running.port());
  client.send(put_head(5) + "12345");
  admitted.await_arrivals(1);
  taken = Buffer();
  EXPECT_EQ(client.receive().status, 200);
}

TEST(PartBody, ABufferComesBackWhenTheClientGoesAway) {
  Gate admitted;
  admitted.open();
  Running running({part_route(passing(admitted))}, {}, /*part_count=*/1);
  {
    RawClient client(running.port());
    client.send(put_head(1000) + "some");
    admitted.await_arrivals(1);
  }
  EXPECT_EQ(ask(running.port(), put_head(5) + "12345").status, 200);
}

TEST(Expect100, IsAnsweredOnlyWhenTheRequestIsAdmitted) {
  std::atomic<bool> admits = true;
  Running running({part_route([&](Request&) -> Result<void> {
    if (!admits) return Failure(refused());
    return {};
  })});
  RawClient client(running.port());
  EXPECT_EQ(client.ask(put_head(5, "Expect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(client.ask("12345").status, 200);
  admits = false;
  EXPECT_EQ(client.ask(put_head(5, "Expect: 100-continue\r\n")).status, 403);
  EXPECT_TRUE(client.closed());
}

TEST(Expect100, IsTheOnlyExpectationThatIsMet) {
  Running running({part_route()});
  for (auto expectation : {"100-continue, 200-ok", "other", "100-continue\r\nExpect: other"}) {
    RawClient client(running.port());
    EXPECT_EQ(client.ask(put_head(5, fmt::format("Expect: {}\r\n", expectation))).status, 417) << expectation;
  }
  EXPECT_EQ(ask(running.port(), put_head(5, "Expect: 100-Continue\r\n")).status, 100);
  EXPECT_EQ(ask(running.port(), put_head(0, "Expect:\r\n")).status, 200);
}

TEST(SmallBody, IsBoundedByTheRoutesLimitWhetherDeclaredOrChunked) {
  auto route = echo();
  route.max_body = 10;
  Running running({route});
  EXPECT_EQ(ask(running.port(), post("/api/echo", "0123456789")).body, "0123456789");
  EXPECT_EQ(ask(running.port(), post("/api/echo", "0123456789a")).status, 413);
  auto chunked = "POST /api/echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(ask(running.port(), chunked + std::string("a\r\n0123456789\r\n0\r\n\r\n")).body, "0123456789");
  EXPECT_EQ(ask(running.port(), chunked + std::string("b\r\n0123456789a\r\n0\r\n\r\n")).status, 413);
}

TEST(SmallBody, OfAMebibyteArrivesWhole) {
  Running running({echo()});
  std::string body;
  while (body.size() < kSmallBody) body += std::to_string(body.size()) + ",";
  body.resize(kSmallBody);
  RawClient client(running.port());
  EXPECT_EQ(client.ask(post("/api/echo", body)).body, body);
}

TEST(NoBody, AHabitualBodyIsIgnoredAndALargeOneRefused) {
  Running running({hello()});
  RawClient client(running.port());
  client.send("GET /api/hello HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}" + get("/api/hello"));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(ask(running.port(), "GET /api/hello HTTP/1.1\r\nHost: t\r\nContent-Length: 65537\r\n\r\n").status,
            413);
}

// Collects what it is given; stops at a gate or fails after so many bytes.
struct Collected {
  std::string bytes;
  std::atomic<int> sinks_gone = 0;
  Gate gate;
  std::size_t refuse_after = SIZE_MAX;
};

class Collector final : public RequestBodySink {
 public:
  explicit Collector(Collected& all) : all_(all) {}
  ~Collector() override { ++all_.sinks_gone; }
  Result<void> write(std::string_view bytes) override {
    all_.gate.pass();
    all_.bytes += bytes;
    if (all_.bytes.size() > all_.refuse_after) return Failure(refused());
    return {};
  }
  Result<Response> finish() override { return json_response(201, OrderedJson{{"bytes", all_.bytes.size()}}); }

 private:
  Collected& all_;
};

Route stream_route(Collected& all, std::uint64_t most = 64u << 20) {
  return {.method = "POST",
          .pattern = "/api/stream",
          .auth = Auth::anybody,
          .body = Body::stream,
          .max_body = most,
          .pool = Pool::store,
          .open = [&all](Request&) -> Result<std::unique_ptr<RequestBodySink>> {
            return std::make_unique<Collector>(all);
          }};
}

TEST(StreamBody, ArrivesInOrderAndIsAnsweredByTheSink) {
  Collected all;
  all.gate.open();
  Running running({stream_route(all)});
  std::string body;
  while (body.size() < 1'000'000) body += std::to_string(body.size()) + ",";
  RawClient client(running.port());
  auto answer = client.ask(post("/api/stream", body));
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(all.bytes, body);
  all.bytes.clear();
  EXPECT_EQ(client
                .ask("POST /api/stream HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                     "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
                .status,
            201);
  EXPECT_EQ(all.bytes, "abc");
  EXPECT_EQ(client.ask(post("/api/stream", "")).body, R"({"bytes":3})");
}

TEST(StreamBody, IsNotReadWhileTheSinkIsBusy) {
  Collected all;
  Running running({stream_route(all)});
  RawClient client(running.port());
  const std::string body(32u << 20, 'x');
  ASSERT_TRUE(client.send(
      fmt::format("POST /api/stream HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n", body.size())));
  auto sent = client.send_until_full(body);
  all.gate.await_arrivals(1);
  EXPECT_LT(sent, body.size());  // only what the kernel and one piece hold
  all.gate.open();
  ASSERT_TRUE(client.send(std::string_view(body).substr(sent)));
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_EQ(all.bytes.size(), body.size());
}

TEST(StreamBody, IsRefusedMidwayAndTheClientReadsIt) {
  Collected all;
  all.gate.open();
  all.refuse_after = 200'000;
  Running running({stream_route(all)});
  RawClient client(running.port());
  client.send(fmt::format("POST /api/stream HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n", 4u << 20));
  client.send(std::string(3u << 20, 'x'));
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_LT(all.bytes.size(), 1u << 20);
}

TEST(StreamBody, TheSinkGoesWithAClientThatGoes) {
  Collected all;
  all.gate.open();
  Running running({stream_route(all)});
  {
    RawClient client(running.port());
    client.send("POST /api/stream HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n" +
                std::string(200'000, 'x'));
    all.gate.await_arrivals(1);
  }
  running.server->stop();
  running.server.reset();
  EXPECT_EQ(all.sinks_gone, 1);
}

TEST(StreamBody, IsBoundedWhenItsLengthIsNotDeclared) {
  Collected all;
  all.gate.open();
  Running running({stream_route(all, /*most=*/4)});
  EXPECT_EQ(
      ask(running.port(),
          "POST /api/stream HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
          .status,
      413);
}

}  // namespace
}  // namespace dash::daemon
