// Responses that wait for something without holding a thread: streams of events, and answers that come later.
#include "daemon/server/connection.hpp"

namespace dash::daemon {

// Calls `then` on the loop when the wait is over, unless the client has gone by then.
void Connection::wait_for(Waiting& waiting, std::function<void()> then) {
  if (!mark_busy()) return;
  clear_deadline();
  phase_ = Phase::waiting;
  std::vector<char>().swap(piece_);
  after_wait_ = std::move(then);
  auto number = ++wait_number_;
  if (dispatcher_.draining()) waiting.drain();
  auto until = waiting.wait([weak = weak_from_this(), number] {
    auto self = weak.lock();
    if (!self) return;
    auto& io = self->loop_.io;
    asio::post(io, [self = std::move(self), number] { self->on_wake(number); });
  });
  if (until <= std::chrono::steady_clock::now()) return on_wake(number);
  return_input();
  dispatcher_.connections().park(*row_);
  watch_peer();
  set_wait_timer(until, number);
}

void Connection::set_wait_timer(SteadyTime until, std::uint64_t number) {
  wait_timer_.expires_at(until);
  wait_timer_.async_wait([self = shared_from_this(), number](error_code error) {
    if (!error) self->on_wake(number);
  });
}

void Connection::on_wake(std::uint64_t number) {
  if (phase_ != Phase::waiting || number != wait_number_) return;
  error_code ignored;
  wait_timer_.cancel(ignored);
  dispatcher_.connections().unpark(*row_);
  phase_ = Phase::replying;
  std::exchange(after_wait_, {})();
}

// A client that closes its connection is found at once, unless it has sent the next request already.
void Connection::watch_peer() {
  if (is_input_seen_ || std::exchange(is_peer_watched_, true)) return;
  stream_.socket().async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->phase_ == Phase::closed) return;
    bool is_gone = error || self->stream_.is_closed_by_peer();
    self->is_peer_watched_ = false;
    if (self->phase_ != Phase::waiting) return;
    if (is_gone) return self->close();
    self->is_input_seen_ = true;  // it stays readable, so watching it would not end
  });
}

void Connection::finish_deferred() {
  context_.request.body = {};
  context_.request.buffer = Buffer();
  context_.small_body = {};
  context_.small_body_reservation = {};
  wait_for(*response_.deferred, [this] {
    offload(
        context_.route->pool,
        [this] {
          auto outcome = dispatcher_.finish_deferred(*response_.deferred);
          frame(outcome ? std::move(*outcome) : dispatcher_.refusal(context_, outcome.error()));
          return send_now();
        },
        [this](std::size_t bytes) { begin_reply(bytes); });
  });
}

}  // namespace dash::daemon
