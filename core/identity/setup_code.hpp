// The one-time code that claims a fresh instance. It is printed at the first start, stored 0600 in the data
// directory, and removed once an admin exists. Without it, and so without the operator's help, no remote
// client can make the first admin.
#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::identity {

class SetupCode {
 public:
  explicit SetupCode(std::string data_dir) : path_(std::move(data_dir) + "/setup-code") {}
  // Returns the code in force. Makes one when there is none.
  Result<Secret> ensure();
  // Fails with Code::forbidden for any other text.
  Result<void> check(const Secret& given);
  void remove();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dash::identity
