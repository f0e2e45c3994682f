// A policy engine that is a script. It records each start, then runs the real engine or fails as a test
// demands.
#pragma once
#include <signal.h>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {

class FakeEngine {
 public:
  // `on_run` is shell text that replaces the real engine's server; it may use $REAL and "$@".
  explicit FakeEngine(std::string_view on_run) {
    auto text = fmt::format(
        "#!/bin/sh\nREAL={0}\nHERE={1}\necho \"$1\" >> $HERE/starts\nif [ \"$1\" != run ]; then exec $REAL "
        "\"$@\"; fi\necho $$ >> $HERE/pids\n{2}\n",
        real_engine(), scratch_.path(), on_run);
    std::ofstream(path()) << text;
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::string path() const { return scratch_ / "engine"; }
  // Makes a file that `on_run` can find as $HERE/<name>.
  void put(const std::string& name) const { std::ofstream(scratch_ / name) << "x"; }
  void remove(const std::string& name) const { std::filesystem::remove(scratch_ / name); }
  bool has(const std::string& name) const { return std::filesystem::exists(scratch_ / name); }
  // Returns how often its server was started.
  std::size_t runs() const { return lines("pids").size(); }
  // Returns the processes that live, of those that `on_run` wrote to $HERE/pids.
  std::vector<int> alive() const {
    std::vector<int> out;
    for (const auto& line : lines("pids"))
      if (int pid = std::atoi(line.c_str()); ::kill(pid, 0) == 0 && !is_zombie(pid)) out.push_back(pid);
    return out;
  }

 private:
  std::vector<std::string> lines(const std::string& name) const {
    std::ifstream file(scratch_ / name);
    std::vector<std::string> out;
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }
  static bool is_zombie(int pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    auto after = text.rfind(") ");
    return after == text.npos || text[after + 2] == 'Z';
  }
  Scratch scratch_;
};

}  // namespace dash::policy
