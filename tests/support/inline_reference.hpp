// Reads the body of an inline upload the simple way, whole in memory, for comparison with InlineBody. Header
// only, because the fuzz target does not link the test support library.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/part_layout.hpp"
#include "core/storage/upload/inline_body.hpp"

namespace dash::storage {

struct InlineFile {
  std::string filename;
  std::string content;
};

// Reads it with InlineBody, `piece` bytes at a time.
inline Result<InlineFile> read_inline_in_pieces(std::string_view body, std::size_t piece,
                                                std::uint64_t ceiling) {
  StringSink content(body.size());
  InlineBody reader(ceiling, content);
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size())))
    TRY(reader.write(body.substr(0, piece)));
  TRY(reader.finish());
  return InlineFile{reader.filename().value(), content.take()};
}

// Reads it with parse_json() and crypto::from_base64().
inline Result<InlineFile> read_inline_whole(std::string_view body, std::uint64_t ceiling) {
  auto json = TRY(parse_json(body));
  if (!json.is_object()) return fail(Code::invalid, "not an object");
  auto name = string_member(json, "filename"), text = string_member(json, "content_b64");
  if (!name || !text) return fail(Code::validation, "a member is missing");
  auto content = crypto::from_base64(*text);
  if (!content) return fail(Code::invalid, "not base64");
  if (content->size() > ceiling) return fail(Code::too_large, "too large");
  return InlineFile{*name, *content};
}

// Returns true when both accept with the same file, or both refuse.
inline bool same_reading(std::string_view body, std::size_t piece) {
  auto streamed = read_inline_in_pieces(body, piece, kMaxInlineBytes);
  auto whole = read_inline_whole(body, kMaxInlineBytes);
  if (!streamed || !whole) return streamed.has_value() == whole.has_value();
  return streamed->filename == whole->filename && streamed->content == whole->content;
}

}  // namespace dash::storage
