// A bundle under a passphrase: scrypt (RFC 7914) makes the key, AES-256-GCM seals the text. A small JSON
// document carries both, so that diff and import recognise such a file. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::migrate {

Result<std::string> seal_bundle(std::string_view text, const Secret& passphrase);

bool is_sealed_bundle(std::string_view text);

// Code::integrity naming `file` for a wrong passphrase or an altered file.
Result<std::string> open_sealed_bundle(std::string_view text, const Secret& passphrase,
                                       std::string_view file);

}  // namespace dash::migrate
