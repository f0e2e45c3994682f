#include "core/audit/checkpoint.hpp"

#include <charconv>

#include "core/base/lines.hpp"
#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

constexpr std::string_view kSignatureMark = "\u2014 ";  // em dash and blank, C2SP signed-note
constexpr char kEd25519 = 1;                            // signature type byte
constexpr std::string_view kEntryLine = "entry ";
constexpr std::string_view kTimeLine = "time ";

// First four bytes of SHA-256 over name, newline, type and key.
std::string key_id(std::string_view name, std::string_view public_key) {
  return crypto::sha256(fmt::format("{}\n{}{}", name, kEd25519, public_key)).substr(0, 4);
}

bool signed_by(std::string_view body, std::string_view signature_line, std::string_view public_key) {
  auto name = signer_name(public_key);
  if (!signature_line.starts_with(kSignatureMark)) return false;
  signature_line.remove_prefix(kSignatureMark.size());
  if (!signature_line.starts_with(name + " ")) return false;
  auto blob = crypto::from_base64(signature_line.substr(name.size() + 1));
  return blob && blob->size() == 4 + 64 && blob->substr(0, 4) == key_id(name, public_key) &&
         crypto::ed25519_verify(public_key, body, std::string_view(*blob).substr(4));
}

std::optional<Checkpoint> parse_body(std::string_view body) {
  take_line(body);  // the origin; the signer's name has proved it
  auto size = take_line(body);
  Checkpoint out;
  auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), out.size);
  if (error != std::errc() || end != size.data() + size.size() || out.size < 0) return std::nullopt;
  auto root = crypto::from_base64(take_line(body));
  if (!root || root->size() != 32) return std::nullopt;
  out.root = *root;
  while (!body.empty()) {
    auto line = take_line(body);
    if (line.starts_with(kEntryLine))
      out.entry_hash = crypto::from_hex(line.substr(kEntryLine.size())).value_or("");
    if (line.starts_with(kTimeLine)) out.made_at = line.substr(kTimeLine.size());
  }
  return out;
}

}  // namespace

std::string signer_name(std::string_view public_key) {
  return "dashctl-audit-" + crypto::to_hex(crypto::sha256(public_key)).substr(0, 16);
}

std::string verifier_key(std::string_view public_key) {
  auto name = signer_name(public_key);
  return fmt::format("{}+{}+{}", name, crypto::to_hex(key_id(name, public_key)),
                     crypto::to_base64(fmt::format("{}{}", kEd25519, public_key)));
}

Result<std::string> parse_verifier_key(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  auto last = text.find('+');
  last = last == text.npos ? last : text.find('+', last + 1);
  auto bytes = last == text.npos ? std::nullopt : crypto::from_base64(text.substr(last + 1));
  if (!bytes || bytes->size() != 33 || verifier_key(std::string_view(*bytes).substr(1)) != text)
    return fail(Code::invalid,
                "the public key is not a verifier key (name+id+base64); `dashctl audit prove` prints it");
  return bytes->substr(1);
}

Checkpoint sign_checkpoint(const crypto::Ed25519Key& key, std::int64_t size, std::string root,
                           std::string entry_hash, Time now) {
  auto name = signer_name(key.public_key);
  auto made_at = format_iso(now);
  auto body = fmt::format("{}\n{}\n{}\n{}{}\n{}{}\n", name, size, crypto::to_base64(root), kEntryLine,
                          entry_hash.empty() ? "none" : crypto::to_hex(entry_hash), kTimeLine, made_at);
  auto signature = crypto::to_base64(key_id(name, key.public_key) + crypto::ed25519_sign(key, body));
  auto note = fmt::format("{}\n{}{} {}\n", body, kSignatureMark, name, signature);
  return {size, std::move(root), std::move(entry_hash), std::move(made_at), std::move(note)};
}

Result<std::vector<Checkpoint>> parse_checkpoints(std::string_view text, std::string_view public_key) {
  std::vector<Checkpoint> out;
  for (;;) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    if (text.empty()) return out;
    auto blank = text.find("\n\n");
    auto body = text.substr(0, blank == text.npos ? text.size() : blank + 1);
    auto rest = text.substr(blank == text.npos ? text.size() : blank + 2);
    auto signature = take_line(rest);
    auto checkpoint = signed_by(body, signature, public_key) ? parse_body(body) : std::nullopt;
    if (!checkpoint)
      return fail(Code::integrity,
                  "checkpoint {} of the anchor is not signed by this log's key; compare it with another copy "
                  "of the anchor",
                  out.size() + 1);
    checkpoint->note = fmt::format("{}\n{}\n", body, signature);
    out.push_back(*std::move(checkpoint));
    text = rest;
  }
}

}  // namespace dash::audit
