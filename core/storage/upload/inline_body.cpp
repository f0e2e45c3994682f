#include "core/storage/upload/inline_body.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/shape.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kStepBytes = 64u << 10;     // base64 characters decoded at a time
constexpr std::size_t kMaxNameText = 8u << 10;    // raw text of a member's name or of the filename
constexpr std::size_t kMaxOtherText = 64u << 10;  // raw text of an unknown member
constexpr std::size_t kMaxMembers = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

Failure malformed() { return invalid_json("the body is not a JSON object with filename and content_b64"); }
Failure bad_base64() { return fail(Code::invalid, "content_b64 is not valid base64."); }

}  // namespace

Result<void> InlineBody::write(std::string_view piece) {
  while (!piece.empty()) {
    if (state_ == State::content) {
      piece.remove_prefix(TRY(read_content(piece)));
      continue;
    }
    TRY(step(piece.front()));
    piece.remove_prefix(1);
  }
  return {};
}

Result<void> InlineBody::finish() {
  if (state_ != State::after) return malformed();
  for (std::string_view member : {"filename", "content_b64"})
    if (!seen_.contains(std::string(member))) return missing_member(member);
  return {};
}

Result<void> InlineBody::step(char c) {
  if (state_ == State::text) return collect_text(c);
  if (state_ == State::other) return collect_other(c);
  if (state_ == State::escape) return end_escape(c);
  if (is_space(c)) return {};
  switch (state_) {
    case State::before:
      if (c != '{') return malformed();
      state_ = State::member_or_end;
      return {};
    case State::member_or_end:
    case State::member:
      if (c == '}' && state_ == State::member_or_end) {
        state_ = State::after;
        return {};
      }
      if (c != '"') return malformed();
      is_name_ = true;
      raw_ = "\"";
      state_ = State::text;
      return {};
    case State::colon:
      if (c != ':') return malformed();
      state_ = State::value;
      return {};
    case State::value:
      return begin_value(c);
    case State::comma_or_end:
      if (c != ',' && c != '}') return malformed();
      state_ = c == ',' ? State::member : State::after;
      return {};
    default:
      return malformed();
  }
}

Result<void> InlineBody::begin_value(char c) {
  if (member_ == "content_b64") {
    if (c != '"') return wrong_type(member_, "string");
    state_ = State::content;
    return {};
  }
  is_name_ = false;
  if (member_ == "filename") {
    if (c != '"') return wrong_type(member_, "string");
    raw_ = "\"";
    state_ = State::text;
    return {};
  }
  raw_.clear();
  depth_ = 0;
  quoted_ = false;
  state_ = State::other;
  return collect_other(c);
}

Result<void> InlineBody::append_raw(char c, std::size_t max_size) {
  if (raw_.size() == max_size) return invalid_json("a member of the body other than content_b64 is too long");
  raw_ += c;
  return {};
}

Result<void> InlineBody::collect_text(char c) {
  TRY(append_raw(c, kMaxNameText));
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    return end_text();
  }
  return {};
}

Result<void> InlineBody::end_text() {
  auto json = parse_json(raw_);
  if (!json) return invalid_json(json.error().message);
  auto text = json->get<std::string>();
  if (is_name_) return name_member(std::move(text));
  filename_ = std::move(text);
  state_ = State::comma_or_end;
  return {};
}

Result<void> InlineBody::name_member(std::string name) {
  if (!seen_.insert(name).second)
    return invalid_json(fmt::format("JSON object has the member '{}' twice", name));
  if (seen_.size() > kMaxMembers)
    return invalid_json(fmt::format("the body has more than {} members", kMaxMembers));
  member_ = std::move(name);
  state_ = State::colon;
  return {};
}

// An unknown value: its end is found by brackets and quotes, then parse_json() checks the whole of it.
Result<void> InlineBody::collect_other(char c) {
  if (quoted_) {
    TRY(append_raw(c, kMaxOtherText));
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      quoted_ = false;
    return {};
  }
  if (depth_ == 0 && (c == ',' || c == '}')) {
    TRY(end_other());
    return step(c);
  }
  if (c == '"') quoted_ = true;
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
  if (depth_ < 0 || depth_ >= kMaxJsonDepth) return malformed();
  return append_raw(c, kMaxOtherText);
}

Result<void> InlineBody::end_other() {
  if (auto json = parse_json(raw_); !json) return invalid_json(json.error().message);
  state_ = State::comma_or_end;
  return {};
}

// Consumes characters up to the text's end, an escape, or a step. Returns how many.
Result<std::size_t> InlineBody::read_content(std::string_view piece) {
  piece = piece.substr(0, kStepBytes);
  auto end = std::min({piece.find('"'), piece.find('\\'), piece.size()});
  TRY(decode(piece.substr(0, end)));
  if (end == piece.size()) return end;
  if (piece[end] == '"') {
    if (!base64_.finish()) return bad_base64();
    state_ = State::comma_or_end;
  } else {
    raw_.clear();
    state_ = State::escape;
  }
  return end + 1;
}

// JSON may escape any character of the alphabet: some writers make "\/" and "\u002B" of '/' and '+'.
Result<void> InlineBody::end_escape(char c) {
  raw_ += c;
  if (raw_.front() == 'u' && raw_.size() < 5) return {};
  auto text = parse_json("\"\\" + raw_ + "\"");
  if (!text) return malformed();
  state_ = State::content;
  return decode(text->get_ref<const std::string&>());
}

Result<void> InlineBody::decode(std::string_view text) {
  decoded_.clear();
  if (!base64_.feed(text, decoded_)) return bad_base64();
  size_ += decoded_.size();
  if (size_ > ceiling_)
    return fail(Code::too_large, "the file is above the inline ceiling of {} bytes. {}", ceiling_, advice_);
  if (decoded_.empty()) return {};
  return content_.write(decoded_);
}

}  // namespace dash::storage
