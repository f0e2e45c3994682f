#include "core/base/redact.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/text.hpp"

namespace dash {
namespace {

constexpr std::string_view kRedacted = "***";

struct Span {
  std::size_t begin = 0, end = 0;
};

bool is_scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
         c == '.';
}

// Between "scheme://" and the last '@' before the path, the query or the end of the word.
std::optional<Span> find_in_url(std::string_view text, std::size_t from) {
  for (auto at = text.find("://", from); at != text.npos; at = text.find("://", at + 1)) {
    if (at == 0 || !is_scheme_char(text[at - 1])) continue;
    auto begin = at + 3;
    auto end = std::min(text.find_first_of("/?# \t\r\n\"'<>\\,", begin), text.size());
    auto sign = text.substr(begin, end - begin).rfind('@');
    // A password may hold a character that ought to be escaped: then the '@' comes later in the word.
    bool has_colon = text.substr(begin, end - begin).find(':') != text.npos && text[begin] != '[';
    if (sign == text.npos && end < text.size() && has_colon) {
      auto word_end = std::min(text.find_first_of(" \t\r\n\"'<>", begin), text.size());
      auto word = text.substr(begin, word_end - begin);
      auto colon = word.find(':');
      auto rest = word.substr(colon + 1);
      bool is_port = !rest.empty() && rest.find_first_not_of("0123456789") == end - begin - colon - 1;
      if (!is_port) sign = word.rfind('@');
    }
    if (sign != text.npos && sign > 0) return Span{begin, begin + sign};
  }
  return std::nullopt;
}

// "user:password@tcp(host:3306)/name"
std::optional<Span> find_in_source_name(std::string_view text, std::size_t from) {
  for (std::string_view network : {"@tcp(", "@tcp6(", "@unix(", "@udp("}) {
    auto sign = text.find(network, from);
    if (sign == text.npos) continue;
    auto before = text.substr(0, sign);
    auto space = before.find_last_of(" \t\r\n\"'=,");
    auto begin = std::max(from, space == before.npos ? 0 : space + 1);
    if (begin < sign && before.substr(begin) != kRedacted) return Span{begin, sign};
  }
  return std::nullopt;
}

bool is_word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (auto at = text.find(word, from); at != text.npos; at = text.find(word, at + 1))
    if (at == 0 || !is_word_char(text[at - 1])) return at;
  return text.npos;
}

bool is_source_description(std::string_view lowered) {
  constexpr std::array<std::string_view, 9> kWords = {
      "host=", "server=",  "dbname=", "database=",   "data source=",
      "user=", "user id=", "uid=",    "accountname="};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return find_word(lowered, word, 0) != lowered.npos; });
}

// "host=h user=u password=p", "Server=s;Uid=u;Pwd=p", "jdbc:…?user=u&password=p"
std::optional<Span> find_in_keywords(std::string_view text, std::string_view lowered, std::size_t from) {
  if (!is_source_description(lowered)) return std::nullopt;
  std::optional<Span> first;
  for (std::string_view word : {"password=", "pwd=", "passwd=", "accountkey=", "sharedaccesskey="}) {
    auto at = find_word(lowered, word, from);
    if (at == lowered.npos) continue;
    auto begin = at + word.size();
    auto quote = begin < text.size() && (text[begin] == '\'' || text[begin] == '"') ? text[begin] : '\0';
    auto end = quote ? text.find(quote, begin + 1) : text.find_first_of(" \t\r\n;&", begin);
    end = std::min(end, text.size());
    if (begin < end && text.substr(begin, end - begin) != kRedacted && (!first || begin < first->begin))
      first = Span{begin, end};
  }
  return first;
}

std::optional<Span> find_secret(std::string_view text, std::string_view lowered, std::size_t from) {
  std::optional<Span> first;
  for (const auto& span :
       {find_in_url(text, from), find_in_source_name(text, from), find_in_keywords(text, lowered, from)})
    if (span && span->begin >= from && (!first || span->begin < first->begin)) first = span;
  return first;
}

bool may_have_secret(std::string_view text) { return text.find_first_of("@=") != text.npos; }

}  // namespace

bool has_userinfo(std::string_view text) {
  return may_have_secret(text) && find_secret(text, lower(text), 0).has_value();
}

std::string without_userinfo(std::string_view text) {
  if (!may_have_secret(text)) return std::string(text);
  std::string out;
  auto lowered = lower(text);
  std::size_t from = 0;
  while (auto span = find_secret(text, lowered, from)) {
    out += text.substr(from, span->begin - from);
    out += kRedacted;
    from = span->end;
  }
  return out += text.substr(from);
}

}  // namespace dash
