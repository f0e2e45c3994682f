// Hides what looks like a secret inside of a text: the userinfo of a URL ("https://user:password@host"), of a
// data source name ("user:password@tcp(host)"), and the password of a keyword list ("host=h password=p").
// Pure.
#pragma once
#include <string>
#include <string_view>

namespace dash {

bool has_userinfo(std::string_view text);
// Returns the text with "***" in the place of each userinfo and password.
std::string without_userinfo(std::string_view text);

}  // namespace dash
