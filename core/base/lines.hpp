// Texts of lines that end with a newline; the last one may lack it. Pure.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

namespace dash {

// Removes the first line from `text` and returns it without its newline.
inline std::string_view take_line(std::string_view& text) {
  auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) out.push_back(take_line(text));
  return out;
}

}  // namespace dash
