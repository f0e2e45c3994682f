// Parses a stream of server-sent events (HTML Living Standard, section 9.2.6) as its bytes arrive.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/base/stream.hpp"

namespace dash::client {

struct ServerEvent {
  std::string type;  // "message" unless the server names another
  std::string data;  // its lines, joined by line ends
  std::string id;    // the last id that the server gave, of this event or of an earlier one
};

class EventParser final : public Sink {
 public:
  // An error of `on_event` ends the stream.
  using OnEvent = std::function<Result<void>(const ServerEvent&)>;
  explicit EventParser(OnEvent on_event) : on_event_(std::move(on_event)) {}
  // Code::upstream for a line that is longer than any event of ours.
  Result<void> write(std::string_view bytes) override;

 private:
  Result<void> on_line(std::string_view line);
  OnEvent on_event_;
  std::string line_, type_, data_, id_;
  bool has_data_ = false, was_return_ = false;
};

}  // namespace dash::client
