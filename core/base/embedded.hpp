// Files of the source tree that are compiled into the binary (see scripts/embed.cmake).
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace dash {

struct EmbeddedFile {
  const char* path;  // as in the source tree: "core/config/keys.yaml"
  const char* begin;
  const char* end;
  std::string_view bytes() const { return {begin, static_cast<std::size_t>(end - begin)}; }
};

std::span<const EmbeddedFile> embedded_files();

inline std::optional<std::string_view> embedded(std::string_view path) {
  for (const auto& file : embedded_files())
    if (path == file.path) return file.bytes();
  return std::nullopt;
}

}  // namespace dash
