#include "daemon/server/connection.hpp"

namespace dash::daemon {
namespace {

// Pieces of a body that is dropped, or that an unknown caller sends.
constexpr std::size_t kAnonymousPieceBytes = 8u << 10;

// How often a free part buffer is polled for: short against the seconds of a transfer.
constexpr std::chrono::milliseconds kBufferPollInterval{20};

}  // namespace

// Runs on the database's pool, whatever the route's: an unknown caller never waits in the queue of a slow
// store. Where there is no body to wait for, the handler's own step finds the caller.
void Connection::authenticate() {
  const auto& route = *context_.route;
  bool is_done_by_handler = body_done_ && route.pool == Pool::fast && !route.admit;
  if (!Dispatcher::needs_authentication(route) || is_done_by_handler) return admit();
  offload(
      Pool::fast, [this] { return dispatcher_.authenticate(context_); },
      [this](const Result<void>& outcome) { outcome ? admit() : refuse(outcome.error()); });
}

void Connection::admit() {
  const auto& route = *context_.route;
  if (!route.admit && route.body != Body::stream) return on_admitted();
  offload(
      route.pool, [this] { return Dispatcher::admit(context_); },
      [this](const Result<void>& outcome) { outcome ? on_admitted() : refuse(outcome.error()); });
}

void Connection::on_admitted() {
  Dispatcher::limit_body(context_);
  acquire_part_buffer(std::chrono::steady_clock::now() + limits_.part_timeout);
}

// The buffer pool bounds the memory of the process: without a buffer the socket stays unread.
void Connection::acquire_part_buffer(SteadyTime until) {
  if (context_.route->body != Body::part) return start_body();
  context_.request.buffer = dispatcher_.buffers().try_acquire({context_.request.holder(), true});
  if (context_.request.buffer) return start_body();
  if (std::chrono::steady_clock::now() >= until) return refuse(BufferPool::no_buffer_error());
  buffer_timer_.expires_after(kBufferPollInterval);
  buffer_timer_.async_wait([self = shared_from_this(), until](error_code error) {
    if (!error && self->phase_ != Phase::closed) self->acquire_part_buffer(until);
  });
}

void Connection::start_body() {
  if (body_done_) return on_body_done();
  phase_ = Phase::body;
  bool is_part = context_.route->body == Body::part;
  auto most = is_authenticated() && context_.route->body != Body::none ? kPieceBytes : kAnonymousPieceBytes;
  if (!is_part) piece_.resize(head_.chunked ? most : std::min<std::uint64_t>(body_left_, most));
  if (!is_authenticated()) mark_idle();
  start_rate_check(is_part ? limits_.part_floor_bytes_per_second : limits_.floor_bytes_per_second);
  if (head_.expects_continue && buffered().empty()) return send_continue();
  read_body();
}

void Connection::send_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  set_deadline(limits_.stall_time);
  asio::const_buffer none;
  // 25 bytes into an empty socket buffer: a short write means that the client is gone.
  stream_.write_some({asio::buffer(kContinue), none, none},
                     [self = shared_from_this()](error_code error, std::size_t n) {
                       if (self->phase_ == Phase::closed) return;
                       if (error || n != kContinue.size()) return self->close();
                       self->read_body();
                     });
}

void Connection::read_body() { head_.chunked ? read_chunked() : read_sized(); }

// Returns where decoded bytes are written: the part buffer, or a piece for a string or a sink.
std::span<char> Connection::free_space() {
  if (context_.route->body == Body::part) return context_.request.buffer.span().subspan(body_seen_);
  return std::span(piece_).subspan(piece_size_);
}

bool Connection::on_body_bytes(std::size_t bytes) {
  body_seen_ += bytes;
  if (context_.route->body != Body::part) piece_size_ += bytes;
  if (body_seen_ <= context_.body_limit) return true;
  refuse(body_too_large(context_.body_limit));
  return false;
}

void Connection::read_chunked() {
  auto step = parser_->chunked(buffered(), free_space());
  if (!step) {
    head_.keep_alive = false;
    return refuse(step.error());
  }
  consume(step->consumed);
  if (!on_body_bytes(step->produced)) return;
  if (step->done || free_space().empty()) return flush_body(step->done);
  if (in_end_ - in_begin_ == in_.size())
    return refuse(make_error(Code::invalid, "bad request: a chunk header without an end"));
  set_rate_deadline();
  auto before = body_seen_;
  fill([this, before](std::size_t) {
    // Chunk headers are no progress: the minimum rate counts the decoded bytes.
    if (!meets_min_rate(body_seen_ - before)) return on_too_slow();
    read_chunked();
  });
}

void Connection::read_sized() {
  auto ready = buffered().substr(0, std::min<std::uint64_t>(body_left_, free_space().size()));
  std::copy(ready.begin(), ready.end(), free_space().begin());
  consume(ready.size());
  body_left_ -= ready.size();
  if (!on_body_bytes(ready.size())) return;
  if (body_left_ == 0 || free_space().empty()) return flush_body(body_left_ == 0);
  set_rate_deadline();
  // Reads directly into the target, without the input buffer.
  read_into(free_space().first(std::min<std::uint64_t>(body_left_, free_space().size())),
            [this](std::size_t bytes) {
              body_left_ -= bytes;
              bool fast_enough = meets_min_rate(bytes);
              if (!on_body_bytes(bytes)) return;
              fast_enough ? read_sized() : on_too_slow();
            });
}

// The piece is full, or it was the last.
void Connection::flush_body(bool done) {
  body_done_ = done;
  if (context_.route->body != Body::stream) {
    if (context_.route->body == Body::small && !append_small_body()) return;
    piece_size_ = 0;
    return done ? on_body_done() : read_body();
  }
  auto piece = std::string_view(piece_.data(), std::exchange(piece_size_, 0));
  if (piece.empty()) return on_body_done();
  offload(
      context_.route->pool, [this, piece] { return Dispatcher::write(context_, piece); },
      [this](const Result<void>& outcome) {
        if (!outcome) return refuse(outcome.error());
        if (body_done_) return on_body_done();
        phase_ = Phase::body;
        read_body();
      });
}

bool Connection::append_small_body() {
  if (!dispatcher_.grow_small_body(context_, piece_size_)) {
    refuse(busy(std::chrono::seconds(2), "too many large requests at once; try again shortly"));
    return false;
  }
  context_.small_body.append(piece_.data(), piece_size_);
  return true;
}

void Connection::on_body_done() {
  if (!mark_busy()) return;
  auto& request = context_.request;
  if (context_.route->body == Body::part) request.body = {request.buffer.data(), body_seen_};
  if (context_.route->body == Body::small) request.body = context_.small_body;
  run_handler();
}

// The worker sends the response itself: the client need not wait until the loop has woken.
void Connection::run_handler() {
  bool streamed = context_.route->body == Body::stream;
  context_.request.is_abandoned = [this] { return is_abandoned(); };
  offload(
      context_.route->pool,
      [this, streamed] {
        auto outcome = streamed ? dispatcher_.finish(context_) : dispatcher_.handle(context_);
        bool is_deferred = outcome && outcome->deferred;
        if (is_deferred) response_ = std::move(*outcome);
        if (is_deferred) return std::size_t{0};
        frame(outcome ? std::move(*outcome) : dispatcher_.refusal(context_, outcome.error()));
        return send_now();
      },
      [this](std::size_t bytes) { response_.deferred ? finish_deferred() : begin_reply(bytes); });
}

bool Connection::is_abandoned() {
  std::lock_guard lock(socket_mutex_);
  return is_shut_ || stream_.is_closed_by_peer();
}

}  // namespace dash::daemon
