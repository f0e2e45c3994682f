#include "core/jobs/secret_mask.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "core/base/json.hpp"
#include "core/base/lines.hpp"
#include "core/base/shape.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kMasked = "********";
constexpr int kJsonLevels = 3;  // JSON is often carried in JSON
// Where base64(1) and openssl break their lines.
constexpr std::array<std::size_t, 2> kBase64LineBytes{76, 64};

// The characters of base64 that depend on the secret alone, when `offset` bytes precede it.
std::string base64_at(std::string_view secret, std::size_t offset) {
  auto encoded = crypto::to_base64(std::string(offset, '\0') + std::string(secret));
  auto first = (offset * 8 + 5) / 6;
  auto end = (offset + secret.size()) * 8 / 6;
  return encoded.substr(first, end - first);
}

std::string url_alphabet(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// "%2F" as "%2f".
std::string with_small_digits(std::string text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '%')
      for (auto k : {i + 1, i + 2})
        text[k] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[k])));
  return text;
}

void add_base64(std::set<std::string>& out, std::string_view secret) {
  for (std::size_t offset = 0; offset < 3; ++offset) {
    auto text = base64_at(secret, offset);
    out.insert({text, url_alphabet(text)});
  }
  auto whole = base64_at(secret, 0);
  for (auto length : kBase64LineBytes)
    for (std::size_t at = 0; whole.size() > length && at < whole.size(); at += length)
      out.insert(whole.substr(at, length));
}

// As it stands between the quotes of a JSON text.
std::string json_text(const std::string& text, bool is_ascii) {
  auto quoted = Json(text).dump(-1, ' ', is_ascii);
  return quoted.substr(1, quoted.size() - 2);
}

void add_escaped(std::set<std::string>& out, std::string_view secret) {
  for (bool keep_slash : {false, true}) {
    auto text = net::percent_encode(secret, keep_slash);
    for (const auto& one : {text, replace_all(text, "%20", "+")}) out.insert({one, with_small_digits(one)});
  }
  if (!is_utf8(secret)) return;
  std::set<std::string> texts{std::string(secret)};
  for (int level = 0; level < kJsonLevels; ++level) {
    std::set<std::string> quoted;
    for (const auto& text : texts) quoted.insert({json_text(text, false), json_text(text, true)});
    out.insert(quoted.begin(), quoted.end());
    texts = std::move(quoted);
  }
}

void add_forms(std::set<std::string>& out, std::string_view secret, std::size_t min_bytes) {
  if (secret.size() < min_bytes) return;
  out.insert(std::string(secret));
  add_base64(out, secret);
  add_escaped(out, secret);
}

}  // namespace

Result<void> check_maskable(std::string_view name, std::string_view secret) {
  if (secret.size() >= kMinSecretBytes) return {};
  return wrong_value(name,
                     fmt::format("'{}' has fewer than {} bytes, so it cannot be kept out of the log; use "
                                 "a longer secret",
                                 name, kMinSecretBytes));
}

SecretMask::SecretMask(const std::vector<std::string>& secrets, std::size_t min_bytes) {
  std::set<std::string> forms;
  for (std::string_view secret : secrets) {
    add_forms(forms, secret, min_bytes);
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.remove_suffix(1);
    add_forms(forms, secret, min_bytes);
    for (auto line : lines_of(secret)) add_forms(forms, line, min_bytes);
  }
  std::erase_if(forms, [&](const auto& form) { return form.size() < min_bytes; });
  patterns_.assign(forms.begin(), forms.end());
  std::ranges::stable_sort(patterns_, std::greater(), &std::string::size);
  for (std::uint32_t i = 0; i < patterns_.size(); ++i)
    by_byte_[static_cast<unsigned char>(patterns_[i][0])].push_back(i);
}

void SecretMask::mask_into(std::string& out, std::string_view text, bool is_cut) const {
  for (std::size_t at = 0; at < text.size();) {
    auto rest = text.substr(at);
    std::size_t found = 0;
    for (auto i : by_byte_[static_cast<unsigned char>(rest[0])]) {
      const auto& pattern = patterns_[i];
      // A longer secret that was cut takes precedence over a shorter one inside of it.
      if (is_cut && rest.size() < pattern.size() && pattern.starts_with(rest)) return;
      if (!rest.starts_with(pattern)) continue;
      found = pattern.size();
      break;
    }
    out += found > 0 ? kMasked : rest.substr(0, 1);
    at += std::max<std::size_t>(found, 1);
  }
}

std::string SecretMask::mask(std::string_view text) const {
  std::string out;
  mask_into(out, text, /*is_cut=*/false);
  return out;
}

std::string SecretMask::mask_lines(const std::vector<std::string>& lines, std::size_t cut_at) const {
  std::string out, whole;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool is_cut = lines[i].size() >= cut_at, is_last = i + 1 == lines.size();
    whole += lines[i];
    if (is_cut || is_last) {
      mask_into(out, whole, is_cut);
      whole.clear();
    }
    if (!is_last) (is_cut ? out : whole) += '\n';
  }
  return out;
}

}  // namespace dash::jobs
