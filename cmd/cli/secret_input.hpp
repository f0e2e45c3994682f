// Reads secrets from a file, from stdin ("-") or from a prompt without echo. The only flag with a secret is
// --token, which scripts of the deployed dashboards pass.
#pragma once
#include <string>

#include "cmd/cli/tree.hpp"
#include "core/base/secret.hpp"

namespace dash::cmd {

// Reads a file, or stdin for "-". One trailing newline is not part of the secret. Code::usage when it is
// empty.
Result<Secret> read_secret_file(const std::string& path);

// Reads `file` when given, else prompts on the terminal. Where no prompt is possible the error names `flag`.
Result<Secret> read_secret(Context& context, const std::string& file, const std::string& prompt,
                           const std::string& flag);

// Reads `file` when given, else prompts twice and compares: for a new secret.
Result<Secret> read_new_secret(Context& context, const std::string& file, const std::string& prompt,
                               const std::string& flag);

}  // namespace dash::cmd
