// The formats of disk images, by their marks in the first 64 KiB and the last 512 bytes. Nothing else of an
// image is read, and nothing in it is trusted: every field that is used lies inside of the bytes given.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::images {

inline constexpr std::size_t kFrontBytes = 64u << 10;
inline constexpr std::size_t kEndBytes = 512;
inline constexpr std::uint64_t kMaxImageBytes = 64ull << 30;  // 8,192 parts of 8 MiB
inline constexpr std::string_view kImageExtensions = ".img, .ova, .qcow2, .raw, .vhd, .vhdx";

enum class Format { vhd, vhdx, qcow2, ova, raw };
// "vhd", …; `.raw` and `.img` are both "raw".
std::string_view word(Format format);
// Returns the format that a name promises by its extension, in any case.
std::optional<Format> format_of_name(std::string_view name);

// Code::invalid for what no file may be called, and for another extension.
Result<void> check_image_name(std::string_view name);
// Code::invalid for zero, Code::too_large above kMaxImageBytes.
Result<void> check_image_size(std::uint64_t size);

// Return what the bytes show, as words with a space before each: " qcow2 qcow2-backing-file". `front` is the
// first kFrontBytes of the image or all of a shorter one, `end` its last kEndBytes.
std::string marks_of_front(std::string_view front);
std::string marks_of_end(std::string_view end);
// Code::invalid when the marks of front and end together are not those of the format that the name promises,
// or are of an image that is not complete without another file.
Result<void> check_format(std::string_view name, std::uint64_t size, std::string_view marks);

}  // namespace dash::images
