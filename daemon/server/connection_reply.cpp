#include <sys/socket.h>

#include "core/base/log.hpp"
#include "daemon/server/connection.hpp"

namespace dash::daemon {

void Connection::refuse(const Error& error) { reply(dispatcher_.refusal(context_, error)); }

// Returns true when the next byte of the input belongs to the next request. Skips the rest of a refused body
// that has already arrived.
bool Connection::consume_body() {
  if (body_done_) return true;
  if (head_.chunked || head_.expects_continue || body_left_ > buffered().size()) return false;
  consume(body_left_);
  body_done_ = true;
  return true;
}

void Connection::reply(Response response) {
  frame(std::move(response));
  begin_reply(0);
}

void Connection::frame(Response response) {
  context_.sink.reset();
  // Other requests wait for the body's memory, and this client may read slowly.
  context_.request.body = {};
  context_.request.buffer = Buffer();
  context_.small_body.clear();
  context_.small_body.shrink_to_fit();
  context_.small_body_reservation = {};
  response_ = std::move(response);
  dispatcher_.add_headers(context_, response_);
  keep_alive_ = consume_body() && head_.keep_alive && !dispatcher_.draining();
  Framing framing;
  bool has_body = status_has_body(response_.status);
  if (response_.source) {
    framing.length = response_.source->size();
    framing.chunked = !framing.length && head_.is_http_1_1;
  } else {
    framing.length = response_.body.size();
  }
  if (!framing.length && !framing.chunked) keep_alive_ = false;
  if (!keep_alive_) framing.connection = "close";
  if (keep_alive_ && !head_.is_http_1_1) framing.connection = "keep-alive";
  bool sends_body = has_body && !context_.head_only;
  if (!sends_body) response_.source.reset();
  out_status_ = response_.status;
  out_head_ = response_head(response_, framing);
  out_body_ = sends_body && !response_.source ? std::string_view(response_.body) : std::string_view();
  out_tail_ = {};
  out_bytes_ = out_body_.size();
  out_left_ = framing.length.value_or(0);
  out_chunked_ = framing.chunked;
  out_done_ = !response_.source;
}

std::size_t Connection::send_now() {
  std::lock_guard lock(socket_mutex_);
  if (!is_shut_)
    return stream_.write_now(
        {{{out_head_.data(), out_head_.size()}, {const_cast<char*>(out_body_.data()), out_body_.size()}}});
  out_status_ = 0;  // the client did not get it
  out_bytes_ = 0;
  return 0;
}

void Connection::begin_reply(std::size_t bytes) {
  phase_ = Phase::replying;
  start_rate_check(limits_.floor_bytes_per_second);
  if (response_.source && !response_.source->waiting()) watch_client();
  on_some_written(bytes);
}

// Checks now and then whether the current write is stuck. While a worker reads, the source must not be
// touched.
void Connection::watch_client() {
  release_timer_.expires_after(limits_.release_time);
  release_timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || (self->phase_ != Phase::replying && self->phase_ != Phase::working)) return;
    if (self->phase_ == Phase::replying) {
      if (!self->response_.source) return;
      auto stalled_for = std::chrono::steady_clock::now() - self->waiting_since_;
      if (stalled_for >= self->limits_.release_time) self->response_.source->release();
    }
    self->watch_client();
  });
}

void Connection::write() {
  if (!is_authenticated()) mark_idle();
  set_rate_deadline();
  stream_.write_some({asio::buffer(out_head_), asio::buffer(out_body_), asio::buffer(out_tail_)},
                     [self = shared_from_this()](error_code error, std::size_t bytes) {
                       if (self->phase_ == Phase::closed) return;
                       if (error || !self->meets_min_rate(bytes)) return self->cut();
                       self->on_some_written(bytes);
                     });
}

void Connection::on_some_written(std::size_t bytes) {
  auto take = [&bytes](auto& from) {
    auto n = std::min(bytes, from.size());
    bytes -= n;
    return n;
  };
  out_head_.erase(0, take(out_head_));
  out_body_.remove_prefix(take(out_body_));
  out_tail_.remove_prefix(take(out_tail_));
  if (!out_head_.empty() || !out_body_.empty() || !out_tail_.empty()) return write();
  out_done_ ? end_of_reply() : pull();
}

void Connection::pull() {
  auto* waiting = response_.source->waiting();
  waiting ? wait_for(*waiting, [this] { read_piece(); }) : read_piece();
}

void Connection::read_piece() {
  if (!mark_busy()) return;
  piece_.resize(response_.source->waiting() ? kLivePieceBytes : kPieceBytes);
  offload(
      context_.route->pool, [this] { return Dispatcher::read(*response_.source, piece_); },
      [this](Result<std::size_t> got) { on_pulled(std::move(got)); });
}

void Connection::on_pulled(Result<std::size_t> got) {
  phase_ = Phase::replying;
  bool sized = response_.source->size().has_value();
  if (got && sized && (*got > out_left_ || (*got == 0 && out_left_ > 0)))
    got = fail(Code::internal, "the body is not as long as was said");
  if (!got) {
    log::error("http.response_cut", {{"request_id", context_.request.request_id},
                                     {"path", context_.request.path},
                                     {"message", got.error().message},
                                     {"detail", got.error().detail}});
    return cut();
  }
  out_bytes_ += *got;
  out_left_ -= sized ? *got : 0;
  out_done_ = *got == 0 || (sized && out_left_ == 0);
  out_body_ = {piece_.data(), *got};
  if (out_chunked_) {
    out_head_ = chunk_head(*got);
    out_tail_ = "\r\n";
  }
  write();
}

void Connection::cut() {
  error_code ignored;
  stream_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

void Connection::end_of_reply() {
  dispatcher_.log_access(context_, out_status_, out_bytes_, /*cut=*/false);
  is_logged_ = true;
  has_served_ = true;
  response_ = Response();
  if (keep_alive_) return next_request();
  linger();
}

// A close with unread input sends a reset that can overtake our response. So shut down the sending side, then
// read and drop for a while.
void Connection::linger() {
  phase_ = Phase::lingering;
  mark_idle();
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  set_deadline(limits_.drop_time);
  discarded_ = 0;
  take_input();
  discard_more();
}

void Connection::discard_more() {
  stream_.socket().async_read_some(asio::buffer(in_),
                                   [self = shared_from_this()](error_code error, std::size_t bytes) {
                                     if (self->phase_ == Phase::closed) return;
                                     self->discarded_ += bytes;
                                     if (error || self->discarded_ > self->limits_.drop_bytes)
                                       return self->close();
                                     self->discard_more();
                                   });
}

}  // namespace dash::daemon
