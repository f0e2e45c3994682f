#include <array>

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto at = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i + k])) : 0u;
    };
    unsigned group = at(0) << 16 | at(1) << 8 | at(2);
    std::size_t digits = bytes.size() - i >= 3 ? 4 : bytes.size() - i + 1;
    for (std::size_t d = 0; d < 4; ++d) {
      if (d < digits)
        out += alphabet[group >> (18 - 6 * d) & 63];
      else if (pad)
        out += '=';
    }
  }
  return out;
}

constexpr std::array<std::int8_t, 256> inverse(std::string_view alphabet) {
  std::array<std::int8_t, 256> table{};
  for (auto& v : table) v = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return table;
}

std::optional<std::string> decode(std::string_view text, const std::array<std::int8_t, 256>& table) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  unsigned group = 0;
  std::size_t digits = 0;
  for (char c : text) {
    auto v = table[static_cast<unsigned char>(c)];
    if (v < 0) return std::nullopt;
    group = group << 6 | static_cast<unsigned>(v);
    if (++digits == 4) {
      for (int shift : {16, 8, 0}) out += static_cast<char>(group >> shift & 255);
      group = 0;
      digits = 0;
    }
  }
  // The excess bits of the last digit must be zero: one text per value.
  if (digits == 2) {
    if (group & 15) return std::nullopt;
    out += static_cast<char>(group >> 4 & 255);
  } else if (digits == 3) {
    if (group & 3) return std::nullopt;
    out += static_cast<char>(group >> 10 & 255);
    out += static_cast<char>(group >> 2 & 255);
  }
  return out;
}

}  // namespace

std::string to_base64(std::string_view bytes) { return encode(bytes, kStandard, /*pad=*/true); }
std::string to_base64url(std::string_view bytes) { return encode(bytes, kUrl, /*pad=*/false); }

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr auto kTable = inverse(kStandard);
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with("==")) {
    text.remove_suffix(2);
    if (text.size() % 4 != 2) return std::nullopt;
  } else if (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  return decode(text, kTable);
}

std::optional<std::string> from_base64url(std::string_view text) {
  static constexpr auto kTable = inverse(kUrl);
  return decode(text, kTable);
}

std::string to_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) {
    auto b = static_cast<unsigned char>(c);
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2) return std::nullopt;
  auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

}  // namespace dash::crypto
