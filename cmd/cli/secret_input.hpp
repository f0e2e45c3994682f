// Secrets come from a file, from stdin ("-") or from a prompt without echo; never from a flag but --token,
// which scripts of the deployed dashboards pass.
#pragma once
#include <string>

#include "cmd/cli/tree.hpp"
#include "core/base/secret.hpp"

namespace dash::cmd {

// One trailing newline is not part of the secret. "-" reads stdin. Code::usage when it is empty.
Result<Secret> read_secret_file(const std::string& path);

// From `file` when given, else asked on the terminal. `flag` is named when there is nobody to ask.
Result<Secret> read_secret(Context& context, const std::string& file, const std::string& prompt,
                           const std::string& flag);

// As read_secret(), asked twice: for a secret that is made here.
Result<Secret> read_new_secret(Context& context, const std::string& file, const std::string& prompt,
                               const std::string& flag);

}  // namespace dash::cmd
