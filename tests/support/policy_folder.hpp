// A policy directory for a test, and the real engine over it.
#pragma once
#include <cstdlib>
#include <fstream>

#include "core/net/process/child.hpp"
#include "core/net/process/find_program.hpp"
#include "core/policy/engine.hpp"
#include "tests/support/scratch.hpp"

namespace dash::policy {

// Returns $POLICY_BINARY, the one on PATH, or that of scripts/setup. Without any the test fails with a
// sentence.
inline std::string real_engine() {
  const char* home = std::getenv("HOME");
  for (auto name : {engine_binary(), std::string(home != nullptr ? home : "") + "/.cache/dashctl/bin/opa"})
    if (auto path = net::find_program(name)) return *path;
  throw std::runtime_error(
      "no policy engine: run scripts/setup, or set POLICY_BINARY to Open Policy Agent's binary");
}

class PolicyFolder {
 public:
  const std::string& path() const { return path_; }
  void put(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path_ + "/" + name); }
  // Writes a rule file <id>.rego with this body below its package line.
  void rule(const std::string& id, std::string_view body) const {
    put(id + ".rego", "package admission." + id + "\n\n" + std::string(body) + "\n");
  }
  std::unique_ptr<Engine> engine(std::string binary = real_engine()) const {
    EngineOptions options;
    options.directory = path_;
    options.binary = std::move(binary);
    return make_opa(options);
  }

 private:
  struct FolderMaker {
    explicit FolderMaker(const std::string& path) { std::filesystem::create_directory(path); }
  };
  Scratch scratch_;
  std::string path_ = scratch_ / "policy";
  FolderMaker made_{path_};
};

}  // namespace dash::policy
