// The shares that this agent has: shares.yaml, which alone knows their paths and passwords.
//   shares:
//     - {name: lab, path: /srv/lab}
//     - {name: office, path: '\\files\office', username: 'LAB\svc', password: "sealed:…"}
//     - {name: held, path: '\\files\held', username: svc, dashboard_secret: true}
// Also domain and port (445) of a UNC path.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::agent {

struct Share {
  std::string name;
  std::string path{};  // absolute, or UNC
  std::string username{}, domain{};
  Secret password{};  // as written: plain, or sealed:…
  int port = 445;
  bool has_dashboard_secret = false;
};

struct Shares {
  std::vector<Share> shares{};
  std::vector<std::string> warnings{};  // with file and line

  const Share* find(std::string_view name) const;
};

// Code::usage names file and line of what is no list of shares.
Result<Shares> read_shares(std::string_view text, std::string_view file);
// Reads the file; an absent one has no shares.
Result<Shares> load_shares(const std::string& path);

}  // namespace dash::agent
