// The one-time code that claims a fresh instance: printed at its first start, kept 0600 in the data
// directory, gone once an admin exists. Nobody without it, and nobody remote without the operator's help, can
// make the first admin.
#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::identity {

class SetupCode {
 public:
  explicit SetupCode(std::string data_dir) : path_(std::move(data_dir) + "/setup-code") {}
  // The code in force; made when there is none.
  Result<Secret> ensure();
  // Code::forbidden for any other text.
  Result<void> check(const Secret& given);
  void remove();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dash::identity
