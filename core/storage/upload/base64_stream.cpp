#include "core/storage/upload/base64_stream.hpp"

#include <array>

namespace dash::storage {
namespace {

constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

std::uint32_t value_of(char c) { return kValues[static_cast<unsigned char>(c)]; }

// Returns the three bytes of a group of four characters.
std::array<char, 3> bytes_of(std::uint32_t group) {
  return {static_cast<char>(group >> 16), static_cast<char>((group >> 8) & 0xff),
          static_cast<char>(group & 0xff)};
}

// Decodes the whole groups without padding at the front of `text`, at most a block of them. Returns the
// number of characters consumed.
std::size_t decode_block(std::string_view text, std::string& out) {
  std::array<char, 3 * 1024> block;
  std::size_t taken = 0, made = 0;
  while (taken + 4 <= text.size() && made < block.size()) {
    auto a = value_of(text[taken]), b = value_of(text[taken + 1]);
    auto c = value_of(text[taken + 2]), d = value_of(text[taken + 3]);
    if (((a | b | c | d) & 0xc0) != 0) break;
    for (char byte : bytes_of((a << 18) | (b << 12) | (c << 6) | d)) block[made++] = byte;
    taken += 4;
  }
  out.append(block.data(), made);
  return taken;
}

}  // namespace

bool Base64Stream::feed(std::string_view text, std::string& out) {
  std::size_t i = 0;
  while (i < text.size() && !broken_) {
    if (held_ == 0 && !closed_)
      if (auto taken = decode_block(text.substr(i), out)) {
        i += taken;
        continue;
      }
    broken_ = !take(text[i++], out);
  }
  return !broken_;
}

bool Base64Stream::take(char c, std::string& out) {
  if (closed_) return false;
  if (c == '=') {
    if (held_ < 2) return false;
    ++padding_;
    bits_ <<= 6;
  } else {
    auto value = value_of(c);
    if (value == kNone || padding_ > 0) return false;
    bits_ = (bits_ << 6) | value;
  }
  return ++held_ < 4 || close(out);
}

bool Base64Stream::close(std::string& out) {
  auto unused = padding_ == 2 ? bits_ & 0xffff : padding_ == 1 ? bits_ & 0xff : 0;
  if (unused != 0) return false;
  out.append(bytes_of(bits_).data(), static_cast<std::size_t>(3 - padding_));
  closed_ = padding_ > 0;
  bits_ = 0;
  held_ = 0;
  return true;
}

}  // namespace dash::storage
