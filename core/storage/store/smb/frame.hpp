// One message between this process and the child that runs SMB, over its stdin and stdout: the lengths of
// both parts (4 bytes each, little-endian), a JSON object, then raw bytes. Requests: {"op", "path", …}, see
// worker.cpp. Responses: {} with the result, or {"error": {"code", "message"}}. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.hpp"

namespace dash::storage::smb {

inline constexpr std::size_t kFrameHead = 8;
inline constexpr std::uint32_t kMaxFrameJson =
    8u << 20;  // a thousand entries of a folder, with the longest names
inline constexpr std::uint32_t kMaxFrameBytes = 8u << 20;  // one part

struct FrameSizes {
  std::uint32_t json = 0;
  std::uint32_t bytes = 0;
};

std::string write_frame_head(FrameSizes sizes);
// Code::integrity when a part is larger than any message may have it.
Result<FrameSizes> read_frame_head(std::string_view head);

OrderedJson write_error(const Error& error);
// Returns the response, or the error that it carries.
Result<Json> read_reply(std::string_view json);

}  // namespace dash::storage::smb
