#include "core/client/event_parser.hpp"

#include <utility>

namespace dash::client {
namespace {

constexpr std::size_t kMaxEventBytes = 4u << 20;

}  // namespace

Result<void> EventParser::write(std::string_view bytes) {
  for (char c : bytes) {
    // A line ends with CR, LF or both.
    bool is_second_half = c == '\n' && std::exchange(was_return_, c == '\r');
    if (is_second_half) continue;
    was_return_ = c == '\r';
    if (c == '\n' || c == '\r') {
      TRY(on_line(std::exchange(line_, {})));
    } else {
      line_ += c;
    }
    if (line_.size() + data_.size() > kMaxEventBytes)
      return fail(Code::upstream, "the stream has an event of more than {} bytes", kMaxEventBytes);
  }
  return {};
}

Result<void> EventParser::on_line(std::string_view line) {
  if (line.empty()) {
    ServerEvent event{type_.empty() ? "message" : std::exchange(type_, {}), std::exchange(data_, {}), id_};
    type_.clear();
    return std::exchange(has_data_, false) ? on_event_(event) : Result<void>();
  }
  auto colon = line.find(':');
  auto field = line.substr(0, colon);
  auto value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
  } else if (field == "event") {
    type_ = value;
  } else if (field == "id" && value.find('\0') == value.npos) {
    id_ = value;
  }
  return {};
}

}  // namespace dash::client
