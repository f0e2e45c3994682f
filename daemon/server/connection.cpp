#include "daemon/server/connection.hpp"

#include "core/base/log.hpp"

namespace dash::daemon {
namespace {

// Holds the largest header section and reads bodies in large pieces. Smaller buffers cause too many calls of
// Beast and the kernel (512-byte reads cost four times the CPU of 64 KiB ones).
constexpr std::size_t kInputBytes = 64u << 10;
// So many are kept for the next requests, and not filled with zeros again.
constexpr std::size_t kSpareInputs = 64;

Error connection_limit_error() {
  return busy(std::chrono::seconds(1), "too many connections; try again shortly");
}

SteadyTime now() { return std::chrono::steady_clock::now(); }

}  // namespace

Connection::Connection(Loop& loop, Socket socket, std::string peer, Dispatcher& dispatcher,
                       asio::ssl::context* tls, std::unique_ptr<ConnectionTable::Row> row)
    : loop_(loop),
      stream_(std::move(socket), tls),
      row_(std::move(row)),
      peer_(std::move(peer)),
      dispatcher_(dispatcher),
      limits_(dispatcher.limits()),
      timer_(loop.io),
      buffer_timer_(loop.io),
      release_timer_(loop.io),
      min_rate_(limits_.floor_bytes_per_second, limits_.floor_window),
      wait_timer_(loop.io) {}

// Nothing is known of the client yet, so it may have to make room at once, before its loop has come to start it.
void Connection::on_accepted() {
  dispatcher_.connections().on_evict(*row_, [weak = weak_from_this(), &io = loop_.io] {
    asio::post(io, [weak] {
      if (auto self = weak.lock()) self->close();
    });
  });
  mark_idle();
  asio::post(loop_.io, [self = shared_from_this()] {
    if (self->phase_ != Phase::closed) self->start();
  });
}

void Connection::start() {
  loop_.connections.emplace(this, shared_from_this());
  if (!stream_.is_tls()) return next_request();
  phase_ = Phase::handshake;
  mark_idle();
  set_deadline(row_->is_extra() ? limits_.extra_head_time : limits_.head_time);
  stream_.handshake([self = shared_from_this()](error_code error) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->close();
    self->next_request();
  });
}

void Connection::drain() {
  bool awaits_first = !has_served_ && (phase_ == Phase::idle || phase_ == Phase::handshake);
  if (awaits_first || (phase_ == Phase::idle && stream_.has_input()))
    return set_deadline(limits_.first_request_time);
  if (phase_ == Phase::idle) return close();
  if (phase_ == Phase::waiting) {
    (response_.deferred ? response_.deferred.get() : response_.source->waiting())->drain();
    return on_wake(wait_number_);
  }
  // A connection in the middle of a header section gets a moment, not half a minute.
  if (phase_ == Phase::head) set_deadline(std::min(limits_.head_time, limits_.drop_time));
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  // While a worker owns the request this thread must not read it; the line is written when the outcome
  // arrives.
  if (phase_ != Phase::working) log_cut();
  phase_ = Phase::closed;
  error_code ignored;
  timer_.cancel(ignored);
  buffer_timer_.cancel(ignored);
  release_timer_.cancel(ignored);
  wait_timer_.cancel(ignored);
  {
    std::lock_guard lock(socket_mutex_);
    is_shut_ = true;
    stream_.socket().close(ignored);
  }
  row_.reset();
  loop_.connections.erase(this);  // may destroy this object once the caller's own reference is gone
}

// 499 as in nginx: the client closed the connection before there was a response.
void Connection::log_cut() {
  if (std::exchange(is_logged_, true)) return;
  dispatcher_.log_access(context_, out_status_ == 0 ? 499 : out_status_, out_bytes_, /*cut=*/true);
}

void Connection::next_request() {
  if (dispatcher_.draining() && has_served_) return close();
  phase_ = Phase::idle;
  if (is_forwarded()) dispatcher_.connections().assign(*row_, {});
  context_ = RequestContext();
  response_ = Response();
  out_status_ = 0;
  out_bytes_ = 0;
  header_scanner_ = HeaderScanner();
  parser_.reset();
  admitted_by_.reset();
  is_input_seen_ = is_line_skipped_ = false;
  body_left_ = body_seen_ = 0;
  body_done_ = true;
  std::vector<char>().swap(piece_);
  piece_size_ = 0;
  set_deadline(row_->is_extra()         ? limits_.extra_head_time
               : dispatcher_.draining() ? limits_.first_request_time
                                        : limits_.idle_time);
  mark_idle();
  return_input();
  read_head();
}

void Connection::mark_idle() { dispatcher_.connections().set_idle(*row_); }

bool Connection::mark_busy() {
  if (dispatcher_.connections().set_busy(*row_)) return true;
  close();
  return false;
}

void Connection::take_input() {
  if (!in_.empty()) return;
  auto& spare = loop_.spare_inputs;
  if (spare.empty()) return in_.resize(std::max(kInputBytes, limits_.head_bytes));
  in_ = std::move(spare.back());
  spare.pop_back();
}

// Thousands may wait, and most of what a connection costs is its input buffer. fill() takes one again.
void Connection::return_input() {
  if (in_.empty() || !buffered().empty()) return;
  auto input = std::exchange(in_, {});
  in_begin_ = in_end_ = 0;
  if (loop_.spare_inputs.size() < kSpareInputs) loop_.spare_inputs.push_back(std::move(input));
}

// Not under TLS: decrypted bytes may wait where no poll sees them.
void Connection::await_input() {
  stream_.socket().async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->on_io_error();
    self->take_input();
    self->read_head();
  });
}

// RFC 9112 §2.2: old clients send one more CRLF after a body. One is ignored, so that nobody is kept busy by it.
void Connection::skip_empty_line() {
  if (is_line_skipped_ || !buffered().starts_with("\r\n")) return;
  is_line_skipped_ = true;
  consume(2);
  header_scanner_ = HeaderScanner();
}

void Connection::read_head() {
  skip_empty_line();
  auto found = header_scanner_.find(buffered(), limits_.head_bytes);
  if (!found) return reply_malformed(found.error());
  if (*found) return on_head(**found);
  if (phase_ == Phase::idle && !buffered().empty()) {
    phase_ = Phase::head;
    if (!row_->is_extra()) set_deadline(limits_.head_time);
  }
  if (in_.empty() && !stream_.is_tls()) return await_input();
  fill([this](std::size_t) { read_head(); });
}

void Connection::on_head(std::size_t size) {
  if (!mark_busy()) return;
  parser_.emplace();
  auto head = parser_->head(buffered().substr(0, size));
  if (!head) return reply_malformed(head.error());
  consume(size);
  head_ = std::move(*head);
  body_left_ = head_.content_length.value_or(0);
  body_done_ = !head_.has_body();
  phase_ = Phase::working;
  clear_deadline();
  is_logged_ = false;
  auto refusal = dispatcher_.match_route(head_, peer_, context_);
  context_.request.is_tls = stream_.is_tls();
  if (!check_client_limit()) return;
  refusal ? reply(std::move(*refusal)) : authenticate();
}

// Above the limit only the health routes are served. Behind a trusted proxy a request counts for the client
// that the proxy names.
bool Connection::check_client_limit() {
  bool is_health = context_.route && context_.route->is_health;
  auto& table = dispatcher_.connections();
  bool has_room =
      !row_->is_extra() && (!is_forwarded() || table.assign(*row_, network_of(context_.request.client)));
  if (row_->is_extra()) head_.keep_alive = false;
  if (has_room || is_health) return true;
  refuse(connection_limit_error());
  return false;
}

void Connection::reply_malformed(const Error& error) {
  dispatcher_.begin_malformed(peer_, context_);
  is_logged_ = false;
  head_.keep_alive = false;
  body_done_ = false;  // the end of the body is unknown
  head_.chunked = true;
  auto response = error_response(error);
  if (error.code == Code::too_large) response.status = 431;  // 413 is for bodies
  reply(std::move(response));
}

void Connection::on_io_error() {
  bool can_still_answer = timed_out_ && !stream_.is_tls() && (phase_ == Phase::head || phase_ == Phase::body);
  if (!can_still_answer) return close();
  if (phase_ == Phase::head) dispatcher_.begin_malformed(peer_, context_);
  is_logged_ = false;
  timed_out_ = false;
  head_.keep_alive = false;
  if (row_->is_extra()) return refuse(connection_limit_error());
  auto response = error_response(make_error(Code::timeout, "the request came too slowly"));
  response.status = 408;  // Code::timeout is for requests of ours, 504
  reply(std::move(response));
}

void Connection::set_deadline(std::chrono::steady_clock::duration from_now) {
  due_ = now() + from_now;
  if (!is_timer_running_ || due_ < timer_.expiry()) await_deadline();
}

// One timer runs at a time and is not moved for each read: when it fires early it waits on.
void Connection::await_deadline() {
  is_timer_running_ = true;
  timer_.expires_at(due_);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->phase_ == Phase::closed) return;  // replaced by an earlier one, or closed
    self->is_timer_running_ = false;
    if (self->due_ == SteadyTime::max()) return;
    now() < self->due_ ? self->await_deadline() : self->on_deadline();
  });
}

// Ends the read or write under way; its handler decides what response is still possible.
void Connection::on_deadline() {
  bool window_ended = now() - waiting_since_ < limits_.stall_time;
  bool is_rate_checked = phase_ == Phase::body || phase_ == Phase::replying;
  if (is_rate_checked && window_ended && meets_min_rate(0)) return set_rate_deadline();
  if (phase_ == Phase::idle && row_->is_extra()) phase_ = Phase::head;  // a word before it goes
  if (phase_ == Phase::lingering || phase_ == Phase::idle) return close();
  timed_out_ = true;
  error_code ignored;
  stream_.socket().cancel(ignored);
}

void Connection::set_rate_deadline() {
  waiting_since_ = now();
  set_deadline(std::min<std::chrono::steady_clock::duration>(limits_.stall_time, min_rate_.remaining()));
}

void Connection::on_too_slow() {
  timed_out_ = true;
  on_io_error();
}

bool Connection::meets_min_rate(std::size_t bytes) { return min_rate_.check(now() - waiting_since_, bytes); }

}  // namespace dash::daemon
