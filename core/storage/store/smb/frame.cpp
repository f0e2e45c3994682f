#include "core/storage/store/smb/frame.hpp"

namespace dash::storage::smb {
namespace {

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xff);
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

Code code_of(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i)
    if (info(static_cast<Code>(i)).word == word) return static_cast<Code>(i);
  return Code::upstream;
}

}  // namespace

std::string write_frame_head(FrameSizes sizes) {
  std::string head;
  append_u32(head, sizes.json);
  append_u32(head, sizes.bytes);
  return head;
}

Result<FrameSizes> read_frame_head(std::string_view head) {
  FrameSizes sizes;
  if (head.size() == kFrameHead) sizes = {u32_at(head, 0), u32_at(head, 4)};
  if (sizes.json == 0 || sizes.json > kMaxFrameJson || sizes.bytes > kMaxFrameBytes)
    return fail(Code::integrity, "the SMB child sent a message of an unknown form");
  return sizes;
}

OrderedJson write_error(const Error& error) {
  return {{"error", {{"code", info(error.code).word}, {"message", error.message}}}};
}

Result<Json> read_reply(std::string_view json) {
  auto answer = TRY(parse_json(json));
  auto found = answer.is_object() ? answer.find("error") : answer.end();
  if (!answer.is_object()) return fail(Code::integrity, "the SMB child answered no object");
  if (found == answer.end()) return answer;
  return fail(code_of(string_member(*found, "code").value_or("")), "{}",
              string_member(*found, "message").value_or(""));
}

}  // namespace dash::storage::smb
