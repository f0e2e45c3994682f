#include "core/base/process_name.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace dash {
namespace {

constexpr std::size_t kMaxProcText = 4096;

struct ProcessStat {
  char state;
  std::string began_at;  // in ticks since the boot
};

// The second field is the program's name in parentheses, which may itself have spaces and parentheses.
std::optional<ProcessStat> read_stat(std::string_view pid) {
  auto text = read_file(fmt::format("/proc/{}/stat", pid), kMaxProcText);
  if (!text) return std::nullopt;
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  constexpr int kFieldsBetween = 18;
  ProcessStat stat{};
  std::string skipped;
  fields >> stat.state;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  if (!(fields >> stat.began_at)) return std::nullopt;
  return stat;
}

// Returns what two processes share when one sees the other under its number.
std::string machine_name() {
  auto boot = read_file("/proc/sys/kernel/random/boot_id", kMaxProcText);
  std::error_code error;
  auto numbers = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  if (!boot || error) return "";
  return fmt::format("{} {}", trim(*boot), numbers.string());
}

}  // namespace

std::string own_process_name() {
  auto machine = machine_name();
  auto pid = std::to_string(::getpid());
  auto stat = read_stat(pid);
  if (machine.empty() || !stat) return "";
  return fmt::format("{} {} {}", machine, pid, stat->began_at);
}

bool has_process_ended(std::string_view name) {
  auto machine = machine_name();
  if (machine.empty() || !name.starts_with(machine + " ")) return false;
  auto rest = name.substr(machine.size() + 1);
  auto pid_text = rest.substr(0, rest.find(' '));
  pid_t pid = 0;
  auto [end, error] = std::from_chars(pid_text.data(), pid_text.data() + pid_text.size(), pid);
  if (error != std::errc() || end != pid_text.data() + pid_text.size() || pid <= 0) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  auto stat = read_stat(pid_text);
  if (!stat) return false;
  return stat->state == 'Z' || rest != fmt::format("{} {}", pid_text, stat->began_at);
}

}  // namespace dash
