#include "core/net/process/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace dash::net {

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

Result<std::string> find_program(const std::string& name) {
  auto runnable = [](const std::string& path) {
    std::error_code ec;
    return std::filesystem::is_regular_file(path, ec) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != name.npos) {
    if (runnable(name)) return name;
    return fail(Code::not_found, "{} is not an executable file", name);
  }
  const auto path = search_path();
  std::string_view rest = path;
  while (!name.empty() && !rest.empty()) {
    auto end = rest.find(':');
    auto candidate = fmt::format("{}/{}", rest.substr(0, end), name);
    if (candidate.front() == '/' && runnable(candidate)) return candidate;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return fail(Code::not_found, "there is no program '{}' on the PATH", name);
}

}  // namespace dash::net
