#include "core/agent/protocol/canonical_json.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace dash::agent {
namespace {

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;
};

CodePoint decode_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto first = byte(at);
  std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (size > text.size() - at) return {0xfffd, 1};
  static constexpr std::array<std::uint32_t, 5> kMasks{0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t value = first & kMasks.at(size);
  for (std::size_t i = 1; i < size; ++i) value = value << 6 | (byte(at + i) & 0x3fu);
  return {value, size};
}

void write_escape(std::uint32_t unit, std::string& out) { out += fmt::format("\\u{:04x}", unit); }

void write_code_point(std::uint32_t value, std::string& out) {
  static constexpr std::string_view kShort = "\b\t\n\f\r\"\\", kLetters = "btnfr\"\\";
  if (auto at = value < 0x80 ? kShort.find(static_cast<char>(value)) : kShort.npos; at != kShort.npos) {
    out += '\\';
    out += kLetters[at];
  } else if (value >= 0x20 && value <= 0x7e) {
    out += static_cast<char>(value);
  } else if (value < 0x10000) {
    write_escape(value, out);
  } else {
    write_escape(0xd800 + ((value - 0x10000) >> 10), out);
    write_escape(0xdc00 + ((value - 0x10000) & 0x3ff), out);
  }
}

void write_text(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    auto point = decode_at(text, at);
    write_code_point(point.value, out);
    at += point.bytes;
  }
  out += '"';
}

// The shortest digits that read back, with an exponent from 1e+16 up and below 1e-04.
void write_float(double value, std::string& out) {
  std::array<char, 400> buffer{};
  auto magnitude = value < 0 ? -value : value;
  bool has_exponent = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                           has_exponent ? std::chars_format::scientific : std::chars_format::fixed)
                 .ptr;
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out += text;
  if (!has_exponent && text.find('.') == text.npos) out += ".0";
}

void write_value(const Json& value, std::string& out);

template <class Members, class Write>
void write_members(const Members& members, char open, char close, std::string& out, const Write& write) {
  out += open;
  bool is_first = true;
  for (const auto& member : members) {
    if (!std::exchange(is_first, false)) out += ',';
    write(member);
  }
  out += close;
}

void write_value(const Json& value, std::string& out) {
  if (value.is_object()) {
    write_members(value.items(), '{', '}', out, [&](const auto& member) {
      write_text(member.key(), out);
      out += ':';
      write_value(member.value(), out);
    });
  } else if (value.is_array()) {
    write_members(value, '[', ']', out, [&](const Json& item) { write_value(item, out); });
  } else if (value.is_string()) {
    write_text(value.get_ref<const std::string&>(), out);
  } else if (value.is_boolean()) {
    out += value.get<bool>() ? "true" : "false";
  } else if (value.is_number_unsigned()) {
    out += std::to_string(value.get<std::uint64_t>());
  } else if (value.is_number_integer()) {
    out += std::to_string(value.get<std::int64_t>());
  } else if (value.is_number_float()) {
    write_float(value.get<double>(), out);
  } else {
    out += "null";
  }
}

}  // namespace

std::string canonical_json(const Json& value) {
  std::string out;
  write_value(value, out);
  return out;
}

}  // namespace dash::agent
