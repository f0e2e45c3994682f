// One client's connection: a state machine of callbacks on its loop's thread. Requests come one after the
// other. A short handler runs on that thread, any other on a worker pool that posts its outcome. Private to the
// server. Four files: connection.cpp (life, header sections, deadlines), connection_body.cpp (from the header section to
// the handler), connection_reply.cpp (from the response to the next request), connection_wait.cpp (responses that wait).
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/http/response_head.hpp"
#include "daemon/server/dispatch.hpp"
#include "daemon/server/min_rate.hpp"
#include "daemon/server/stream.hpp"

namespace dash::daemon {

// Body bytes passed to or from a worker at once: large against the 20 microseconds that a switch costs.
inline constexpr std::size_t kPieceBytes = 128u << 10;
// Of a body that grows: hundreds of them may be open.
inline constexpr std::size_t kLivePieceBytes = 16u << 10;

// So many threads of a loop never list a folder: one that does not answer holds up no other request.
inline constexpr std::size_t kSpareThreads = 1;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `tls` may be null. The loop keeps the connection alive until it closes.
  Connection(Loop& loop, Socket socket, std::string peer, Dispatcher& dispatcher, asio::ssl::context* tls,
             std::unique_ptr<ConnectionTable::Row> row);

  void on_accepted();  // called once, from any thread; starts it on the loop
  // The others are called on the loop's thread.
  void drain();  // closes now when no request is under way, else after its response
  void close();

 private:
  enum class Phase { handshake, idle, head, body, working, waiting, replying, lingering, closed };

  // connection.cpp
  void start();
  void next_request();
  bool is_authenticated() const { return context_.request.principal.has_value(); }
  // Waits for a client. While the client is unknown, this connection may be closed when others need its
  // place.
  void mark_idle();
  // Returns false when it was evicted meanwhile and is closed.
  bool mark_busy();
  // Returns whether the request came through a trusted proxy that names the client.
  bool is_forwarded() const { return !context_.request.client.empty() && context_.request.client != peer_; }
  bool check_client_limit();  // false: answered with a refusal
  void skip_empty_line();
  void read_head();
  void take_input();
  void return_input();
  void await_input();
  void on_head(std::size_t size);
  void reply_malformed(const Error& error);  // not a request at all: answer 400, close
  std::string_view buffered() const { return {in_.data() + in_begin_, in_end_ - in_begin_}; }
  void consume(std::size_t bytes) { in_begin_ += bytes; }
  template <class Then>
  void fill(Then then);  // reads more behind buffered(), then calls
  template <class Then>
  void read_into(std::span<char> into, Then then);
  void on_io_error();
  void log_cut();
  void set_deadline(std::chrono::steady_clock::duration from_now);
  void clear_deadline() { due_ = SteadyTime::max(); }
  void await_deadline();
  void on_deadline();
  void on_too_slow();
  void start_rate_check(std::uint64_t floor) { min_rate_ = MinRate(floor, limits_.floor_window); }
  void set_rate_deadline();
  bool meets_min_rate(std::size_t bytes);
  // Runs `work` on a pool, or here when it is short, and `then` with its outcome on the loop. A request's first work
  // on a pool may be refused with 503.
  template <class Work, class Then>
  void offload(Pool where, Work work, Then then);
  // Calls `then` with it on the loop.
  template <class Outcome, class Then>
  void go_on(bool is_leader, Outcome outcome, Then then);

  // connection_body.cpp
  void authenticate();
  void admit();
  void on_admitted();
  void acquire_part_buffer(SteadyTime until);
  void start_body();
  void send_continue();
  void read_body();
  void read_chunked();
  void read_sized();
  std::span<char> free_space();
  bool on_body_bytes(std::size_t bytes);  // false: refused
  void flush_body(bool done);
  bool append_small_body();  // false: refused
  void on_body_done();
  void run_handler();
  bool is_abandoned();  // called on a worker

  // connection_reply.cpp
  void refuse(const Error& error);
  void reply(Response response);
  void frame(Response response);        // also called on a worker, while it owns the request
  std::size_t send_now();               // likewise; returns the bytes that were written at once
  void begin_reply(std::size_t bytes);  // `bytes` were written already
  bool consume_body();
  void write();
  void watch_client();
  void on_some_written(std::size_t bytes);
  void pull();
  void read_piece();
  void on_pulled(Result<std::size_t> got);
  void cut();  // a reset, never a clean end
  void end_of_reply();
  void linger();
  void discard_more();

  // connection_wait.cpp
  void wait_for(Waiting& waiting, std::function<void()> then);
  void set_wait_timer(SteadyTime until, std::uint64_t number);
  void on_wake(std::uint64_t number);
  void watch_peer();
  void finish_deferred();

  Loop& loop_;
  Stream stream_;
  std::unique_ptr<ConnectionTable::Row> row_;
  std::mutex socket_mutex_;  // a worker writes to the socket, while the loop may close it
  bool is_shut_ = false;     // guarded by socket_mutex_
  const std::string peer_;
  Dispatcher& dispatcher_;
  const Limits& limits_;
  Phase phase_ = Phase::idle;
  bool timed_out_ = false;
  bool has_served_ = false;  // a response went out
  bool is_logged_ = true;    // the current request has its access line
  // The pool that admitted this request: the next steps there are never refused.
  std::optional<Pool> admitted_by_;

  asio::steady_timer timer_;
  bool is_timer_running_ = false;
  SteadyTime due_ = SteadyTime::max();
  SteadyTime waiting_since_{};
  asio::steady_timer buffer_timer_;
  asio::steady_timer release_timer_;
  MinRate min_rate_;

  std::vector<char> in_;  // empty while a request or a response is waited for
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  HeaderScanner header_scanner_;
  std::optional<MessageParser> parser_;
  RequestHead head_;
  RequestContext context_;

  std::uint64_t body_left_ = 0;  // of Content-Length
  std::uint64_t body_seen_ = 0;  // decoded
  bool body_done_ = true;
  std::vector<char> piece_;  // a piece of a body on its way to or from a worker
  std::size_t piece_size_ = 0;

  Response response_;
  std::string out_head_;
  std::string_view out_body_;
  std::string_view out_tail_;
  int out_status_ = 0;           // 0: no response yet
  std::uint64_t out_bytes_ = 0;  // of the body, as the client counts them
  std::uint64_t out_left_ = 0;   // promised by Content-Length and not yet pulled
  bool out_chunked_ = false;
  bool out_done_ = false;  // the bytes being written are the last of this response
  bool keep_alive_ = false;
  std::uint64_t discarded_ = 0;

  asio::steady_timer wait_timer_;
  std::uint64_t wait_number_ = 0;  // of the current wait; a wake of an earlier one counts for nothing
  std::function<void()> after_wait_;
  bool is_peer_watched_ = false, is_input_seen_ = false;
  bool is_line_skipped_ = false;  // the empty line before this request
};

template <class Then>
void Connection::read_into(std::span<char> into, Then then) {
  stream_.read_some(into, [self = shared_from_this(), then](error_code error, std::size_t bytes) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->on_io_error();
    then(bytes);
  });
}

template <class Then>
void Connection::fill(Then then) {
  take_input();
  if (in_begin_ > 0) {
    std::copy(in_.begin() + static_cast<std::ptrdiff_t>(in_begin_),
              in_.begin() + static_cast<std::ptrdiff_t>(in_end_), in_.begin());
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  read_into(std::span(in_).subspan(in_end_), [this, then](std::size_t bytes) {
    in_end_ += bytes;
    then(bytes);
  });
}

template <class Work, class Then>
void Connection::offload(Pool where, Work work, Then then) {
  clear_deadline();
  phase_ = Phase::working;
  auto* pool = dispatcher_.pool(where);
  if (!pool) return go_on(true, work(), then);
  bool is_first = std::exchange(admitted_by_, where) != where;
  // While an engine makes its callers wait, it gets no more of the loop's threads.
  bool may_hang = where == Pool::policy && ThreadPool::blocked_count() > 0;
  bool is_brief =
      is_first && where == Pool::store && context_.route->is_short_now && context_.route->is_short_now();
  auto self = shared_from_this();
  if (((is_short(where) && !may_hang) || is_brief) &&
      loop_.threads.begin_work(is_brief ? kSpareThreads : 0)) {
    auto outcome = work();
    return go_on(loop_.threads.end_work(), std::move(outcome), then);
  }
  auto task = [self, work, then] { self->go_on(false, work(), then); };
  if (!is_first || context_.route->is_health) return pool->post(std::move(task));
  if (pool->try_post(std::move(task), context_.request.holder())) return;
  refuse(busy(std::chrono::seconds(1), "the server is at its limit; try again shortly"));
}

// With the next request in the input it lets other connections go first, and so its stack does not grow with every
// request. The rest of a body is no more than the input holds.
template <class Outcome, class Then>
void Connection::go_on(bool is_leader, Outcome outcome, Then then) {
  if (is_leader && (!body_done_ || buffered().empty())) return then(std::move(outcome));
  asio::post(loop_.io, [self = shared_from_this(), then, outcome = std::move(outcome)]() mutable {
    self->phase_ == Phase::closed ? self->log_cut() : then(std::move(outcome));
  });
}

}  // namespace dash::daemon
