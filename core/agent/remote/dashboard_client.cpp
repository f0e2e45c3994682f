#include "core/agent/remote/dashboard_client.hpp"

#include "core/agent/protocol/canonical_json.hpp"
#include "core/agent/protocol/request_signature.hpp"
#include "core/agent/protocol/sealed_reply.hpp"
#include "core/automation/ip_address.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kMaxShownText = 400;

std::string user_agent() { return fmt::format("dashctl/{} (agent {})", DASH_VERSION, kAgentVersion); }

bool is_own_machine(std::string_view host) {
  if (host == "localhost") return true;
  auto address = automation::parse_ip(host);
  return address && (address->is_v4 ? address->bytes[0] == 127 : automation::ip_text(*address) == "::1");
}

std::string_view host_of(std::string_view after_scheme) {
  auto authority = after_scheme.substr(0, after_scheme.find('/'));
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

// A lost answer is an error and no reason to send the same bytes again: their nonce may be spent. libcurl repeats a
// request on a kept connection that turns out to be closed, unless its body can be read only once.
net::HttpRequest request_to(const DashboardAddress& address, const std::string& path, Source& body,
                            std::size_t size) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = address.url + path;
  request.headers = {{"Content-Type", "application/json"}, {"User-Agent", user_agent()}};
  request.body_source = &body;
  request.body_source_size = size;
  request.trust = address.trust;
  request.timeout = kAnswerTimeout;
  request.max_body = kMaxAnswerBytes;
  return request;
}

std::string body_text(const OrderedJson& json) {
  // Through the sorted kind, since the canonical form is that of a value and not of a text.
  return canonical_json(Json(json));
}

Failure refused(const net::HttpResponse& response, std::string_view what) {
  auto code = response.status == 401   ? Code::unauthenticated
              : response.status == 403 ? Code::forbidden
              : response.status == 404 ? Code::not_found
              : response.status == 409 ? Code::conflict
                                       : Code::upstream;
  return fail(code, "{}: {}", what, answer_text(response));
}

}  // namespace

std::string answer_text(const net::HttpResponse& response) {
  auto json = parse_json(response.body);
  auto detail = json && json->is_object() ? string_member(*json, "detail") : std::nullopt;
  if (!detail) return fmt::format("the dashboard answered {}", response.status);
  return escape_controls(trim_partial_character(std::string_view(*detail).substr(0, kMaxShownText)), "");
}

Result<std::string> check_dashboard_url(std::string_view text) {
  std::string url(trim(text));
  while (url.ends_with('/')) url.pop_back();
  bool is_https = url.starts_with("https://"), is_http = url.starts_with("http://");
  auto rest = std::string_view(url).substr(is_https ? 8 : is_http ? 7 : 0);
  auto host = host_of(rest);
  if ((!is_https && !is_http) || host.empty() || url.find_first_of("?#@ ") != std::string::npos)
    return fail(Code::usage, "'{}' is no address of a dashboard: write https://host",
                escape_controls(url, ""));
  if (is_http && !is_own_machine(host))
    return fail(
        Code::usage,
        "'{}' is not https: whoever stands between could give this agent jobs; http is for a dashboard "
        "on this machine only",
        url);
  return url;
}

Result<net::HttpResponse> DashboardClient::post(const std::string& path, std::string_view body,
                                                std::chrono::seconds timeout, Sink* sink) {
  RequestToSign to_sign{identity_.audience,
                        identity_.agent_id,
                        "POST",
                        path,
                        crypto::random_hex(kNonceBytes),
                        std::to_string(to_micros(clock_.now()) / 1'000'000)};
  StringSource source(body);
  auto request = request_to(address_, path, source, body.size());
  request.timeout = timeout;
  request.body_sink = sink;
  request.headers.add(std::string(kAgentIdHeader), to_sign.agent_id);
  request.headers.add(std::string(kTimestampHeader), to_sign.timestamp);
  request.headers.add(std::string(kNonceHeader), to_sign.nonce);
  request.headers.add(std::string(kSignatureHeader), sign_request(identity_.key, to_sign, body));
  return http_.send(request);
}

Result<net::HttpResponse> DashboardClient::post_job(const std::string& job, std::string_view what,
                                                    std::string_view body) {
  return post(fmt::format("/api/agent/jobs/{}/{}", job, what), body, kAnswerTimeout);
}

Result<net::HttpResponse> DashboardClient::lease(const LeaseRequest& request) {
  return post("/api/agent/lease", body_text(to_json(request)),
              kAnswerTimeout + std::chrono::seconds(request.wait_s));
}

Result<net::HttpResponse> DashboardClient::heartbeat(const std::string& job, const Heartbeat& heartbeat) {
  return post_job(job, "heartbeat", body_text(to_json(heartbeat)));
}

Result<net::HttpResponse> DashboardClient::logs(const std::string& job, const LogLines& log) {
  return post_job(job, "logs", body_text(to_json(log)));
}

Result<net::HttpResponse> DashboardClient::complete(const std::string& job, const Completion& completion) {
  return post_job(job, "complete", body_text(to_json(completion)));
}

Result<Secret> DashboardClient::secret(const std::string& job, const std::string& ref) {
  auto reply_key = crypto::new_x25519_key();
  SecretRequest request{ref, crypto::to_base64(reply_key.public_key)};
  auto response = TRY(post_job(job, "secret", body_text(to_json(request))));
  if (response.status != 200) return refused(response, "the dashboard releases no password");
  auto json = TRY(parse_json(response.body));
  auto sealed = json.is_object() ? json.find("sealed") : json.end();
  if (sealed == json.end()) return fail(Code::upstream, "the dashboard's answer has no sealed secret");
  return open_reply(*sealed, reply_key, {identity_.agent_id, identity_.audience, job, ref});
}

Result<void> DashboardClient::asset(const std::string& job, Sink& into) {
  auto path = fmt::format("/api/agent/jobs/{}/asset", job);
  auto response = TRY(post(path, "{}", std::chrono::seconds(0), &into));
  if (response.status != 200) return refused(response, "the dashboard does not send the asset");
  return {};
}

Result<Identity> enrol(net::HttpClient& http, const DashboardAddress& address, const Secret& code,
                       const std::string& policy_hash) {
  Identity identity;
  identity.key = crypto::ed25519_from_seed(Secret(crypto::random_bytes(32)));
  EnrolRequest order{code, crypto::to_base64(identity.key.public_key), std::string(kAgentVersion),
                     policy_hash};
  Secret body(body_text(to_json(order)));
  StringSource source(body.expose());
  auto sent = http.send(request_to(address, "/api/agent/enroll", source, body.expose().size()));
  if (!sent)
    return Failure(std::move(sent).error().within(
        "enrolling (if the dashboard got the code, it is spent: then ask for another)"));
  if (sent->status != 200) {
    auto error = refused(*sent, "the dashboard did not enrol this agent").value();
    if (sent->status == 429 || sent->status == 503) error.code = Code::busy;
    return Failure(std::move(error));
  }
  auto reply = within("the dashboard's answer to the enrolment, which spent the code",
                      read_enrol_reply(TRY(parse_json(sent->body))));
  if (!reply) return Failure(std::move(reply).error());
  auto key = crypto::from_base64(reply->dashboard_public_key);
  if (!key || key->size() != 32)
    return fail(Code::integrity, "the dashboard answered a key that is none; the code is spent");
  identity.agent_id = reply->agent_id;
  identity.audience = reply->audience;
  identity.dashboard_public_key = reply->dashboard_public_key;
  identity.url = address.url;
  identity.ca_bundle = address.trust.ca_bundle;
  return identity;
}

}  // namespace dash::agent
