#include "core/policy/opa/engine_socket.hpp"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <thread>

#include "core/base/before_wait.hpp"
#include "core/base/thread_pool.hpp"

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

constexpr std::size_t kMaxReply = 64u << 20;  // a batch of thousands of decisions
constexpr std::size_t kMaxHead = 16u << 10;
constexpr std::size_t kMaxIdle = 64;
// A decision takes about 0.2 ms, and a blocked thread needs a third of that to wake. So a single caller,
// where there is a second processor, polls for the response this long before it blocks. When polling fails,
// the machine is busy or the rules are large, and the next exchanges block at once: twice as many each time in a row.
constexpr std::chrono::microseconds kSpinTime{500};
constexpr int kMaxSpinBackoff = 64;
// An exchange that waits longer than this, or beside such an exchange, does so in a BlockingScope: another
// thread takes the place of its own.
constexpr Millis kBriefWait{20};
constexpr Millis kCancelPoll{100};

Failure connection_lost() { return fail(Code::unreachable, "the connection to the policy engine was lost"); }
Failure timed_out() { return fail(Code::timeout, "the policy engine did not answer in time"); }
Failure malformed_reply() {
  return fail(Code::upstream, "the policy engine's answer is not HTTP as it speaks it");
}

struct ScopedCount {
  explicit ScopedCount(std::atomic<int>& n) : n_(n) { ++n_; }
  ~ScopedCount() { --n_; }
  std::atomic<int>& n_;
};

// One exchange on one connected, non-blocking socket.
class RoundTrip {
 public:
  RoundTrip(int fd, Steady::time_point due, const std::atomic<bool>& cancelled, bool spins)
      : fd_(fd), due_(due), cancelled_(cancelled), spins_(spins) {}

  Result<void> send(std::string_view head, std::string_view body) {
    while (!head.empty() || !body.empty()) {
      std::array<iovec, 2> parts{
          {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}}};
      msghdr message{};
      message.msg_iov = parts.data();
      message.msg_iovlen = parts.size();
      auto n = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return connection_lost();
      if (n < 0) {
        TRY(wait(POLLOUT));
        continue;
      }
      auto sent = static_cast<std::size_t>(n);
      auto of_head = std::min(sent, head.size());
      head.remove_prefix(of_head);
      body.remove_prefix(sent - of_head);
    }
    return {};
  }

  Result<Reply> receive() {
    std::size_t end = std::string::npos;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos) {
      if (in_.size() > kMaxHead) return malformed_reply();
      TRY(read_more());
    }
    auto head = in_.substr(0, end + 2);
    at_ = end + 4;
    Reply reply;
    if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) return malformed_reply();
    std::from_chars(head.data() + 9, head.data() + 12, reply.status);
    if (auto length = field(head, "content-length:")) {
      std::size_t size = 0;
      auto [stop, ec] = std::from_chars(length->data(), length->data() + length->size(), size);
      if (ec != std::errc() || stop != length->data() + length->size()) return malformed_reply();
      reply.body = TRY(read_exactly(size));
    } else if (field(head, "transfer-encoding:") == "chunked") {
      reply.body = TRY(read_chunks());
    } else {
      return malformed_reply();
    }
    is_reusable_ = field(head, "connection:") != "close" && at_ == in_.size();
    return reply;
  }

  bool has_received() const { return !in_.empty(); }
  bool is_reusable() const { return is_reusable_; }
  bool spin_failed() const { return spin_failed_; }

 private:
  // Returns the trimmed, lower-case value of a header line; `name` is in lower case with its colon.
  static std::optional<std::string> field(std::string_view head, std::string_view name) {
    while (!head.empty()) {
      auto line = head.substr(0, head.find("\r\n"));
      head.remove_prefix(std::min(head.size(), line.size() + 2));
      std::string low(line);
      std::ranges::transform(low, low.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (!low.starts_with(name)) continue;
      low.erase(0, name.size());
      low.erase(0, low.find_first_not_of(' '));
      return low;
    }
    return std::nullopt;
  }

  // Returns the milliseconds until `most` from now or the deadline.
  Millis left(Millis most) const { return std::min(most, std::chrono::ceil<Millis>(due_ - Steady::now())); }

  bool becomes_ready(short events, Millis within) const {
    pollfd p{fd_, events, 0};
    return ::poll(&p, 1, static_cast<int>(within.count())) > 0;
  }

  Result<void> wait(short events) {
    before_wait();
    auto brief = ThreadPool::blocked_count() == 0 ? left(kBriefWait) : Millis{0};
    if (brief.count() > 0 && becomes_ready(events, brief)) return {};
    ThreadPool::BlockingScope blocked;
    for (auto step = left(kCancelPoll); step.count() > 0 && !cancelled_; step = left(kCancelPoll))
      if (becomes_ready(events, step)) return {};
    return timed_out();
  }

  Result<void> read_more() {
    std::array<char, 16384> buffer;
    for (auto until = Steady::now() + kSpinTime;;) {
      if (spins_ && Steady::now() >= until) {
        spins_ = false;
        spin_failed_ = true;
      }
      if (!spins_) TRY(wait(POLLIN));
      auto n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (n <= 0) return connection_lost();
      if (in_.size() + static_cast<std::size_t>(n) > kMaxReply + kMaxHead)
        return fail(Code::upstream, "the policy engine's answer is larger than {} bytes", kMaxReply);
      in_.append(buffer.data(), static_cast<std::size_t>(n));
      return {};
    }
  }

  Result<std::string> read_exactly(std::size_t size) {
    if (size > kMaxReply) return malformed_reply();
    while (in_.size() - at_ < size) TRY(read_more());
    auto out = in_.substr(at_, size);
    at_ += size;
    return out;
  }

  Result<std::string> read_line() {
    std::size_t end = 0;
    while ((end = in_.find("\r\n", at_)) == std::string::npos) TRY(read_more());
    auto out = in_.substr(at_, end - at_);
    at_ = end + 2;
    return out;
  }

  Result<std::string> read_chunks() {
    std::string out;
    for (;;) {
      auto head = TRY(read_line());
      std::size_t size = 0;
      auto [stop, ec] = std::from_chars(head.data(), head.data() + head.size(), size, 16);
      if (ec != std::errc() || stop == head.data() || size > kMaxReply) return malformed_reply();
      if (size == 0) break;
      out += TRY(read_exactly(size));
      if (!TRY(read_line()).empty()) return malformed_reply();
    }
    if (!TRY(read_line()).empty()) return malformed_reply();  // no trailers
    return out;
  }

  int fd_;
  Steady::time_point due_;
  const std::atomic<bool>& cancelled_;
  bool spins_;
  bool spin_failed_ = false;
  std::string in_;
  std::size_t at_ = 0;  // read up to here
  bool is_reusable_ = false;
};

}  // namespace

EngineSocket::~EngineSocket() {
  for (int fd : idle_) ::close(fd);
}

Result<int> EngineSocket::connect(Deadline due, const std::atomic<bool>& cancelled) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path)
    return fail(Code::internal, "the engine's socket path is too long");
  std::ranges::copy(path_, address.sun_path);
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(Code::busy, "no file descriptor is left to ask the policy engine");
  // A stopped engine with a full backlog blocks each attempt this long (unix(7): then EAGAIN).
  timeval timeout{0, std::chrono::microseconds(kBriefWait).count()};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  std::optional<ThreadPool::BlockingScope> blocked;
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    bool is_full = errno == EAGAIN || errno == EINTR;
    if (is_full && Steady::now() < due && !cancelled) {
      if (!blocked) blocked.emplace();
      continue;
    }
    ::close(fd);
    return is_full ? timed_out() : connection_lost();
  }
  return fd;
}

int EngineSocket::acquire_idle() {
  std::lock_guard lock(mutex_);
  if (idle_.empty()) return -1;
  int fd = idle_.back();
  idle_.pop_back();
  return fd;
}

void EngineSocket::release(int fd) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle)
    idle_.push_back(fd);
  else
    ::close(fd);
}

// With many exchanges the count may be off by one for a moment; it only decides how to wait.
bool EngineSocket::may_spin() {
  static const bool kHasSpareProcessor = std::thread::hardware_concurrency() > 1;
  if (!kHasSpareProcessor || in_flight_ > 1) return false;
  if (spin_backoff_ <= 0) return true;
  --spin_backoff_;
  return false;
}

void EngineSocket::note_spin(bool has_failed) {
  next_backoff_ = has_failed ? std::clamp(2 * next_backoff_, 1, kMaxSpinBackoff) : 0;
  spin_backoff_ = next_backoff_.load();
}

Result<Reply> EngineSocket::post(std::string_view target, std::string_view body, Deadline due,
                                 const std::atomic<bool>& cancelled, const std::function<bool()>& counts) {
  ScopedCount counted(in_flight_);
  bool spins = may_spin();
  auto head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: engine\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
      target, body.size());
  for (;;) {
    int fd = acquire_idle();
    bool was_idle = fd >= 0;
    if (!was_idle) fd = TRY(connect(due, cancelled));
    RoundTrip round_trip(fd, due, cancelled, spins);
    auto sent = round_trip.send(head, body);
    if (sent && counts && !counts()) {
      ::close(fd);
      return fail(Code::conflict, "the answer would not count");
    }
    auto reply = sent ? round_trip.receive() : Result<Reply>(Failure(sent.error()));
    if (spins) note_spin(round_trip.spin_failed());
    if (reply && round_trip.is_reusable())
      release(fd);
    else
      ::close(fd);
    bool stale = !reply && reply.error().code == Code::unreachable && was_idle && !round_trip.has_received();
    if (!stale) return reply;
  }
}

}  // namespace dash::policy
