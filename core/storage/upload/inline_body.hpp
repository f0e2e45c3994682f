// Reads the body of an inline upload, {"filename": text, "content_b64": base64}, as it arrives. The content
// leaves decoded in small pieces; only the names are stored. It accepts what parse_json() and
// crypto::from_base64() accept of the whole body, members in any order; other members are checked and
// dropped. The 64 MB ceiling is enforced while decoding.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/stream.hpp"
#include "core/storage/upload/base64_stream.hpp"

namespace dash::storage {

// A longer body cannot hold 64 MB without deliberate padding (base64 is 4/3; JSON may escape '/' and '+').
inline constexpr std::uint64_t kMaxInlineBody = 128ull << 20;

// What to do with a file above the ceiling, where the backend says nothing else.
inline constexpr std::string_view kUseChunkedLane = "Use the chunked lane (upload/begin) on an object store.";

class InlineBody final : public Sink {
 public:
  // `content` takes the decoded bytes in pieces of at most 64 KiB. Its error ends the reading. `advice` is for
  // a file above the ceiling.
  InlineBody(std::uint64_t ceiling, Sink& content, std::string_view advice = kUseChunkedLane)
      : ceiling_(ceiling), content_(content), advice_(advice) {}

  // Code::validation for what is not the promised JSON, Code::invalid for what is not base64, Code::too_large
  // above the ceiling.
  Result<void> write(std::string_view piece) override;
  // Ends the body. Code::validation when a member is missing.
  Result<void> finish();

  const std::optional<std::string>& filename() const { return filename_; }
  std::uint64_t size() const { return size_; }  // decoded so far

 private:
  enum class State {
    before,
    member_or_end,
    member,
    colon,
    value,
    content,
    escape,
    text,
    other,
    comma_or_end,
    after
  };
  Result<void> step(char c);
  Result<void> begin_value(char c);
  Result<void> collect_text(char c);
  Result<void> collect_other(char c);
  Result<void> end_text();
  Result<void> end_other();
  Result<void> name_member(std::string name);
  Result<std::size_t> read_content(std::string_view piece);
  Result<void> end_escape(char c);
  Result<void> decode(std::string_view text);
  Result<void> append_raw(char c, std::size_t max_size);

  std::uint64_t ceiling_;
  Sink& content_;
  std::string_view advice_;
  State state_ = State::before;
  std::string raw_;       // text of the member name, filename or unknown value being read
  bool is_name_ = false;  // `raw_` is a member's name
  bool escaped_ = false;  // in a text: the last character was a backslash
  bool quoted_ = false;   // in another value: inside of a text
  int depth_ = 0;         // in another value: open brackets
  std::string member_;    // the member whose value follows
  std::set<std::string> seen_;
  std::optional<std::string> filename_;
  Base64Stream base64_;
  std::string decoded_;
  std::uint64_t size_ = 0;
};

}  // namespace dash::storage
