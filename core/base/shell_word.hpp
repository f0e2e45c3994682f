// Quotes words for a POSIX shell: for commands that run elsewhere, and for those that users copy.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace dash {

inline std::string shell_quote(std::string_view word) {
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// Quotes only when needed, for users to read.
inline std::string shell_word(std::string_view word) {
  auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:@%+,").find(c) != std::string_view::npos;
  };
  return !word.empty() && std::ranges::all_of(word, is_plain) ? std::string(word) : shell_quote(word);
}

}  // namespace dash
