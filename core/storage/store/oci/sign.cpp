#include "core/storage/store/oci/sign.hpp"

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage::oci {
namespace {

// A key that was pasted as one line has its line breaks as "\n".
Secret with_line_breaks(const Secret& pem) {
  std::string text;
  std::string_view rest = trim(pem.expose());
  for (auto at = rest.find("\\n"); at != rest.npos; at = rest.find("\\n")) {
    text.append(rest.substr(0, at)).push_back('\n');
    rest.remove_prefix(at + 2);
  }
  text.append(rest).push_back('\n');
  return Secret(std::move(text));
}

// MD5 of the public key's DER, colons between the bytes.
std::string fingerprint_of(const crypto::RsaKey& key) {
  auto hex = crypto::to_hex(crypto::md5(key.public_der()));
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) out += (i ? ":" : "") + hex.substr(i, 2);
  return out;
}

}  // namespace

Result<Credentials> read_credentials(std::string_view tenancy, std::string_view user,
                                     std::string_view fingerprint, const Secret& private_key,
                                     const Secret& passphrase) {
  auto need = [](std::string_view value, std::string_view key) -> Result<std::string> {
    if (trim(value).empty())
      return fail(Code::invalid, "{} is not set: Oracle Object Storage needs an API key", key);
    return std::string(trim(value));
  };
  auto tenancy_id = TRY(need(tenancy, "cloud4_tenancy_ocid"));
  auto user_id = TRY(need(user, "cloud4_user_ocid"));
  auto print = lower(TRY(need(fingerprint, "cloud4_fingerprint")));
  TRY(need(private_key.expose(), "cloud4_private_key"));
  auto key =
      TRY(within("cloud4_private_key", crypto::RsaKey::from_pem(with_line_breaks(private_key), passphrase)));
  if (auto own = fingerprint_of(key); own != print)
    return fail(Code::invalid,
                "cloud4_fingerprint is {}, but cloud4_private_key has {}: they belong to two keys", print,
                own);
  return Credentials{fmt::format("{}/{}/{}", tenancy_id, user_id, print), std::move(key)};
}

net::Headers sign(const Credentials& credentials, const RequestToSign& request, std::string_view date) {
  std::string names = "date (request-target) host";
  auto text = fmt::format("date: {}\n(request-target): {} {}\nhost: {}", date, lower(request.method),
                          request.target, request.host);
  net::Headers headers{{"date", std::string(date)}, {"host", std::string(request.host)}};
  if (request.json_body) {
    auto hash = crypto::to_base64(crypto::sha256(*request.json_body));
    names += " content-length content-type x-content-sha256";
    text += fmt::format("\ncontent-length: {}\ncontent-type: application/json\nx-content-sha256: {}",
                        request.json_body->size(), hash);
    headers.add("content-type", "application/json");
    headers.add("x-content-sha256", hash);
  }
  auto signature = crypto::to_base64(credentials.key.sign_sha256(text));
  headers.add(
      "authorization",
      fmt::format(R"(Signature version="1",keyId="{}",algorithm="rsa-sha256",headers="{}",signature="{}")",
                  credentials.key_id, names, signature));
  return headers;
}

}  // namespace dash::storage::oci
