#include "core/images/formats.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/storage/store/names.hpp"

namespace dash::images {
namespace {

constexpr std::uint64_t kSectorBytes = 512;
constexpr std::string_view kVhdCookie = "conectix";
constexpr std::string_view kVhdxSignature = "vhdxfile";
constexpr std::string_view kQcow2Magic = "QFI\xfb";

struct Extension {
  std::string_view text;
  Format format;
};
constexpr std::array<Extension, 6> kExtensions{{{".vhd", Format::vhd},
                                                {".vhdx", Format::vhdx},
                                                {".qcow2", Format::qcow2},
                                                {".ova", Format::ova},
                                                {".raw", Format::raw},
                                                {".img", Format::raw}}};

// Reads a big-endian number. Precondition: the bytes are there.
std::uint64_t big_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (char c : bytes.substr(offset, size)) value = (value << 8) | static_cast<unsigned char>(c);
  return value;
}

std::string qcow2_marks(std::string_view front) {
  constexpr std::size_t kHeaderOfVersion2 = 72, kFeaturesEnd = 80;
  constexpr std::uint64_t kExternalData = 1u << 2;
  std::string marks = " qcow2";
  if (front.size() < kHeaderOfVersion2) return marks + " qcow2-cut";
  if (big_endian(front, 8, 8) != 0) marks += " qcow2-backing-file";
  if (big_endian(front, 4, 4) <= 2) return marks;
  if (front.size() < kFeaturesEnd) return marks + " qcow2-cut";
  if (big_endian(front, kHeaderOfVersion2, 8) & kExternalData) marks += " qcow2-data-file";
  return marks;
}

// A text field of a tar header ends at the first NUL.
std::string_view tar_text(std::string_view header, std::size_t offset, std::size_t size) {
  auto field = header.substr(offset, size);
  return field.substr(0, field.find('\0'));
}

// Returns the size of a member; nullopt when it is not octal digits.
std::optional<std::uint64_t> tar_size(std::string_view header) {
  auto field = tar_text(header, 124, 12);
  std::uint64_t size = 0;
  for (char c : field) {
    if (c == ' ') continue;
    if (c < '0' || c > '7') return std::nullopt;
    size = size * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return size;
}

bool is_tar_header(std::string_view front, std::uint64_t offset) {
  return offset + kSectorBytes <= front.size() && front.substr(offset + 257, 5) == "ustar";
}

// The first member may stand behind records that only describe it (pax, GNU).
bool begins_with_ovf(std::string_view front) {
  constexpr std::string_view kDescribing = "xgLK", kRegular{
                                                       "0\0"
                                                       "7",
                                                       3};
  for (std::uint64_t offset = 0; is_tar_header(front, offset);) {
    auto header = front.substr(offset, kSectorBytes);
    auto type = header[156];
    if (kRegular.find(type) != kRegular.npos)
      return storage::ends_with_ignoring_case(tar_text(header, 0, 100), ".ovf");
    auto size = tar_size(header);
    if (kDescribing.find(type) == kDescribing.npos || !size || *size > front.size()) return false;
    offset += kSectorBytes + (*size + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
  }
  return false;
}

bool has(std::string_view marks, std::string_view mark) {
  for (auto at = marks.find(mark); at != marks.npos; at = marks.find(mark, at + 1)) {
    auto end = at + mark.size();
    if (at > 0 && marks[at - 1] == ' ' && (end == marks.size() || marks[end] == ' ')) return true;
  }
  return false;
}

// Returns the formats that the marks are of; "tar" for an archive that is no OVA.
std::vector<std::string_view> formats_seen(std::string_view marks) {
  std::vector<std::string_view> seen;
  if (has(marks, "vhd") || has(marks, "vhd-front")) seen.push_back("vhd");
  for (std::string_view format : {"vhdx", "qcow2", "ova", "tar"})
    if (has(marks, format)) seen.push_back(format);
  return seen;
}

// Images that are not complete, or say so.
Result<void> check_complete(std::string_view name, std::string_view marks) {
  if (has(marks, "qcow2-cut")) return fail(Code::invalid, "'{}' is cut: its qcow2 header is not whole", name);
  if (has(marks, "qcow2-backing-file"))
    return fail(
        Code::invalid,
        "'{}' needs a backing file, which the hub does not have; write it as one image with `qemu-img "
        "convert`",
        name);
  if (has(marks, "qcow2-data-file"))
    return fail(Code::invalid,
                "'{}' keeps its data in an external file; write it as one image with `qemu-img convert`",
                name);
  if (has(marks, "vhd-child"))
    return fail(Code::invalid, "'{}' is a differencing disk; merge it with its parent first", name);
  return {};
}

Result<void> check_raw(std::string_view name, std::uint64_t size, std::string_view marks) {
  if (auto seen = formats_seen(marks); !seen.empty())
    return fail(Code::invalid, "'{}' is no raw image: it has the marks of {}; name it by its format", name,
                seen.front());
  if (size % kSectorBytes != 0)
    return fail(Code::invalid, "'{}' is no raw image: its {} bytes are not a multiple of {}", name, size,
                kSectorBytes);
  return {};
}

}  // namespace

std::string_view word(Format format) {
  constexpr std::array<std::string_view, 5> kWords{"vhd", "vhdx", "qcow2", "ova", "raw"};
  return kWords.at(static_cast<std::size_t>(format));
}

std::optional<Format> format_of_name(std::string_view name) {
  for (const auto& extension : kExtensions)
    if (storage::ends_with_ignoring_case(name, extension.text)) return extension.format;
  return std::nullopt;
}

Result<void> check_image_name(std::string_view name) {
  TRY(storage::check_file_name(name));
  if (format_of_name(name)) return {};
  return fail(Code::invalid, "'{}' is not called as an image is. Allowed extensions: {}", name,
              kImageExtensions);
}

Result<void> check_image_size(std::uint64_t size) {
  if (size == 0) return fail(Code::invalid, "an image has at least one byte");
  if (size > kMaxImageBytes)
    return fail(Code::too_large, "size {} is above the ceiling of an image, {} bytes (64 GiB)", size,
                kMaxImageBytes);
  return {};
}

std::string marks_of_front(std::string_view front) {
  front = front.substr(0, kFrontBytes);
  std::string marks;
  if (front.starts_with(kVhdCookie)) marks += " vhd-front";
  if (front.starts_with(kVhdxSignature)) marks += " vhdx";
  if (front.starts_with(kQcow2Magic)) marks += qcow2_marks(front);
  if (is_tar_header(front, 0)) marks += begins_with_ovf(front) ? " ova" : " tar";
  return marks;
}

std::string marks_of_end(std::string_view end) {
  constexpr std::uint64_t kDifferencing = 4;
  if (end.size() != kEndBytes || !end.starts_with(kVhdCookie)) return "";
  return big_endian(end, 60, 4) == kDifferencing ? " vhd vhd-child" : " vhd";
}

Result<void> check_format(std::string_view name, std::uint64_t size, std::string_view marks) {
  TRY(check_image_name(name));
  auto promised = *format_of_name(name);
  if (promised == Format::raw) return check_raw(name, size, marks);
  auto seen = formats_seen(marks);
  if (seen.empty())
    return fail(Code::invalid, "'{}' is no {} image: it has none of its marks; export it again or rename it",
                name, word(promised));
  if (auto other = std::ranges::find_if(seen, [&](auto each) { return each != word(promised); });
      other != seen.end())
    return fail(Code::invalid, "'{}' is no {} image: it has the marks of {}; name it by its format", name,
                word(promised), *other);
  if (promised == Format::vhd && (!has(marks, "vhd") || size % kSectorBytes != 0))
    return fail(Code::invalid, "'{}' is cut: a VHD ends with a footer, and this one has none", name);
  return check_complete(name, marks);
}

}  // namespace dash::images
