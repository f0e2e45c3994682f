// Secrets come from a file, from stdin ("-") or from a prompt without echo; never from a flag but --token,
// which the spec names.
#pragma once
#include <string>

#include "cmd/cli/tree.hpp"
#include "core/base/secret.hpp"

namespace dash::cmd {

// One trailing newline is not part of the secret. "-" reads stdin. Code::usage when it is empty.
Result<Secret> read_secret_file(const std::string& path);

// From `file` when given, else asked on the terminal. `flag` is named when there is nobody to ask.
Result<Secret> secret_from(Context& context, const std::string& file, const std::string& question,
                           const std::string& flag);

// As secret_from(), asked twice: for a secret that is made here.
Result<Secret> new_secret_from(Context& context, const std::string& file, const std::string& question,
                               const std::string& flag);

}  // namespace dash::cmd
