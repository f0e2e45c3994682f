// Responses that wait without a thread.
#include <sys/socket.h>

#include <atomic>

#include "tests/daemon/running.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

// What a test writes and many streams read.
class Feed {
 public:
  void put(const std::string& text) {
    change([&] { text_ += text; });
  }
  void finish() {
    change([&] { is_finished_ = true; });
  }
  int open_count() const { return open_; }

 private:
  friend class FeedBody;
  template <class Change>
  void change(Change change) {
    std::vector<Waiting::Wake> wakes;
    {
      std::lock_guard lock(mutex_);
      change();
      wakes.swap(wakes_);
    }
    for (auto& wake : wakes) wake();
  }
  std::mutex mutex_;
  std::string text_;
  bool is_finished_ = false;
  std::vector<Waiting::Wake> wakes_;
  std::atomic<int> open_ = 0;
};

class FeedBody final : public LiveBody {
 public:
  explicit FeedBody(Feed& feed) : feed_(feed) { ++feed_.open_; }
  ~FeedBody() override { --feed_.open_; }
  SteadyTime wait(Wake wake) override {
    std::lock_guard lock(feed_.mutex_);
    if (is_drained_ || feed_.is_finished_ || taken_ < feed_.text_.size()) return {};
    feed_.wakes_.push_back(std::move(wake));
    return SteadyTime::max();
  }
  void drain() override { is_drained_ = true; }
  Result<std::size_t> read(std::span<char> into) override {
    std::lock_guard lock(feed_.mutex_);
    if (is_drained_) return std::size_t{0};
    auto n = feed_.text_.copy(into.data(), into.size(), taken_);
    taken_ += n;
    return n;
  }

 private:
  Feed& feed_;
  std::size_t taken_ = 0;
  std::atomic<bool> is_drained_ = false;
};

Route feed_route(Feed& feed) {
  return {.pattern = "/api/feed", .auth = Auth::anybody, .handler = [&feed](Request&) -> Result<Response> {
            Response response;
            response.content_type = "text/event-stream";
            response.source = std::make_unique<FeedBody>(feed);
            return response;
          }};
}

// Answers when it is told to, or with "nothing" after `timeout`.
struct Answers {
  std::mutex mutex;
  Waiting::Wake wake;
  std::string text;
  std::atomic<int> waiting = 0, finished = 0;
};

class Later final : public DeferredResponse {
 public:
  Later(Answers& answers, SteadyTime until) : answers_(answers), until_(until) {}
  SteadyTime wait(Wake wake) override {
    std::lock_guard lock(answers_.mutex);
    answers_.wake = std::move(wake);
    ++answers_.waiting;
    return is_drained_ ? SteadyTime() : until_;
  }
  void drain() override { is_drained_ = true; }
  Result<Response> finish() override {
    ++answers_.finished;
    std::lock_guard lock(answers_.mutex);
    if (is_drained_) return fail(Code::conflict, "drained");
    return text_response(200, "text/plain", answers_.text.empty() ? "nothing" : answers_.text);
  }

 private:
  Answers& answers_;
  const SteadyTime until_;
  bool is_drained_ = false;
};

Route later_route(Answers& answers, std::chrono::milliseconds timeout) {
  return {.pattern = "/api/later",
          .auth = Auth::anybody,
          .handler = [&answers, timeout](Request&) -> Result<Response> {
            Response response;
            response.deferred = std::make_unique<Later>(answers, std::chrono::steady_clock::now() + timeout);
            return response;
          }};
}

TEST(LiveBody, IsSentAsItGrowsAndTheConnectionIsKept) {
  Feed feed;
  Running running({feed_route(feed), hello()});
  feed.put("one ");
  RawClient client(running.port());
  client.send(get("/api/feed"));
  ASSERT_TRUE(wait_until([&] { return feed.open_count() == 1; }));
  feed.put("two ");
  feed.put("three");
  feed.finish();
  auto answer = client.receive();
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.body, "one two three");
  EXPECT_EQ(client.ask(get("/api/hello")).status, 200);
}

TEST(LiveBody, HoldsNoThreadHoweverManyWait) {
  Feed feed;
  ServerOptions options;
  options.io_threads = 1;
  options.fast = {1, 8};
  Running running({feed_route(feed), hello()}, options);
  std::vector<RawClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.emplace_back(running.port());
    clients.back().send(get("/api/feed"));
    // One after the other: the pool's queue is short.
    ASSERT_TRUE(wait_until([&] { return feed.open_count() == i + 1; }));
  }
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
  feed.put("news");
  feed.finish();
  for (auto& client : clients) EXPECT_EQ(client.receive().body, "news");
}

TEST(LiveBody, EndsInOrderAtDrain) {
  Feed feed;
  Running running({feed_route(feed)});
  feed.put("one");
  RawClient client(running.port());
  client.send(get("/api/feed"));
  ASSERT_TRUE(wait_until([&] { return feed.open_count() == 1; }));
  running.server->stop();
  auto answer = client.receive();
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.body.find_first_not_of("one"), answer.body.npos);
  EXPECT_EQ(feed.open_count(), 0);
}

TEST(LiveBody, GoesWithItsClient) {
  Feed feed;
  Running running({feed_route(feed)});
  RawClient client(running.port());
  client.send(get("/api/feed"));
  ASSERT_TRUE(wait_until([&] { return feed.open_count() == 1; }));
  client.close();
  EXPECT_TRUE(wait_until([&] { return feed.open_count() == 0; }));
}

TEST(LiveBody, LetsARequestWaitThatWasSentBehindIt) {
  Feed feed;
  Running running({feed_route(feed), hello()});
  RawClient client(running.port());
  client.send(get("/api/feed") + get("/api/hello"));
  ASSERT_TRUE(wait_until([&] { return feed.open_count() == 1; }));
  feed.put("x");
  feed.finish();
  EXPECT_EQ(client.receive().body, "x");
  EXPECT_EQ(client.receive().status, 200);
}

// Always has more.
class EndlessBody final : public LiveBody {
 public:
  EndlessBody(std::atomic<int>& open, std::atomic<int>& reads) : open_(open), reads_(reads) { ++open_; }
  ~EndlessBody() override { --open_; }
  SteadyTime wait(Wake) override { return {}; }
  void drain() override {}
  Result<std::size_t> read(std::span<char> into) override {
    ++reads_;
    std::fill(into.begin(), into.end(), 'x');
    return into.size();
  }

 private:
  std::atomic<int>& open_;
  std::atomic<int>& reads_;
};

TEST(LiveBody, IsCutWhenItsClientTakesNothingAndReadsNoMoreUntilThen) {
  std::atomic<int> open = 0, reads = 0;
  ServerOptions options;
  options.limits.stall_time = std::chrono::milliseconds(200);
  Route route{.pattern = "/api/endless", .auth = Auth::anybody, .handler = [&](Request&) -> Result<Response> {
                Response response;
                response.source = std::make_unique<EndlessBody>(open, reads);
                return response;
              }};
  Running running({route}, options);
  RawClient client(running.port());
  client.send(get("/api/endless"));
  ASSERT_TRUE(wait_until([&] { return reads > 0; }));
  ASSERT_TRUE(wait_until([&] { return open == 0; }));
  EXPECT_LT(reads, 10'000);  // what the buffers of the two sockets take, and not more
}

TEST(DeferredResponse, ComesWhenItIsThere) {
  Answers answers;
  Running running({later_route(answers, std::chrono::minutes(10))});
  RawClient client(running.port());
  for (std::string text : {"first", "second"}) {
    answers.waiting = 0;
    client.send(get("/api/later"));
    ASSERT_TRUE(wait_until([&] { return answers.waiting == 1; }));
    Waiting::Wake wake;
    {
      std::lock_guard lock(answers.mutex);
      answers.text = text;
      wake = answers.wake;
    }
    wake();
    EXPECT_EQ(client.receive().body, text);
  }
}

TEST(DeferredResponse, ComesAtItsTimeWithoutNews) {
  Answers answers;
  Running running({later_route(answers, std::chrono::milliseconds(20))});
  EXPECT_EQ(ask(running.port(), get("/api/later")).body, "nothing");
}

TEST(DeferredResponse, IsAskedForAtDrainAndForgottenWithItsClient) {
  Answers answers;
  Running running({later_route(answers, std::chrono::minutes(10))});
  {
    RawClient gone(running.port());
    gone.send(get("/api/later"));
    ASSERT_TRUE(wait_until([&] { return answers.waiting == 1; }));
  }
  RawClient client(running.port());
  client.send(get("/api/later"));
  ASSERT_TRUE(wait_until([&] { return answers.waiting == 2; }));
  running.server->stop();
  EXPECT_EQ(client.receive().status, 409);
  EXPECT_EQ(answers.finished, 1);
}

}  // namespace
}  // namespace dash::daemon
