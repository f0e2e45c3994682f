// Words as a POSIX shell must be given them: for commands that run elsewhere, and for those that people copy.
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

// Quoted only when it must be, for people.
inline std::string shell_word(std::string_view word) {
  auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:@%+,").find(c) != std::string_view::npos;
  };
  return !word.empty() && std::ranges::all_of(word, is_plain) ? std::string(word) : shell_quote(word);
}

}  // namespace dash
