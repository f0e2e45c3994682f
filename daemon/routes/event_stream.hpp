// Server-sent events (HTML Living Standard, section 9.2) of one caller, while they happen: authenticated again
// every so often, kept open by comments, ended by the drain. No thread and no buffer belongs to a stream that
// waits. The log of a job and the events of the lists are such streams.
#pragma once
#include <atomic>
#include <memory>

#include "core/app/application.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

// Every so often a comment line goes out, so that proxies and clients take the connection for a live one.
inline constexpr std::chrono::seconds kPingInterval{15};
// Every so often the follower is authenticated and authorised again.
inline constexpr std::chrono::seconds kRecheckInterval{30};

class EventStream : public LiveBody {
 public:
  // `authenticate` finds the caller again later, by the header section of the request.
  EventStream(app::Application& app, Authenticate authenticate, const Request& request);

  // Reads the first page: an error is the response.
  Result<void> begin() { return read_page(); }

  SteadyTime wait(Wake wake) final;
  void drain() final { is_draining_ = true; }
  Result<std::size_t> read(std::span<char> into) final;

 protected:
  // Adds what is there behind the last page. An error ends the stream.
  virtual Result<void> read_page() = 0;
  // Returns true when there is something to read. Otherwise calls `wake` once when that is so. Does not block.
  virtual bool has_news(Wake wake) = 0;

  // Adds one event. `fields` are whole lines, such as "id: 7\n".
  void add(std::string_view fields, const OrderedJson& data);
  // The stream goes on at once, or ends, when what was added is taken.
  void set_more(bool has_more) { has_more_ = has_more; }
  void end() { is_over_ = true; }
  const Principal& principal() const { return principal_; }

  app::Application& app_;

 private:
  void refill();
  bool check_caller();

  const Authenticate authenticate_;
  const Request head_;
  Principal principal_;
  SteadyTime checked_at_;
  SteadyTime sent_at_{};
  std::string pending_;
  std::size_t taken_ = 0;
  bool has_more_ = false, is_over_ = false;
  std::atomic<bool> is_draining_ = false;
};

// Returns the response of a stream, or the error of its first page.
Result<Response> event_response(std::unique_ptr<EventStream> stream);

// Returns the number in Last-Event-ID; nullopt without one. Code::invalid for other text.
Result<std::optional<std::int64_t>> last_event_id(const Request& request);

}  // namespace dash::daemon
