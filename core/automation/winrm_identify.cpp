#include "core/automation/winrm_identify.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.hpp"

namespace dash::automation {
namespace {

constexpr std::chrono::seconds kIdentifyTimeout{30};
constexpr std::size_t kMaxIdentifyAnswer = 64u << 10;
constexpr std::string_view kIdentify =
    R"(<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope")"
    R"( xmlns:i="http://schemas.dmtf.org/wbem/wsman/identity/1/wsmanidentity.xsd">)"
    R"(<s:Header/><s:Body><i:Identify/></s:Body></s:Envelope>)";

// The TLS library reads roots from files only; this one never touches a disk.
Result<Fd> certificate_file(const std::string& pem) {
  Fd file(::memfd_create("winrm certificate", MFD_CLOEXEC));
  auto size = static_cast<ssize_t>(pem.size());
  if (file.get() < 0 || ::write(file.get(), pem.data(), pem.size()) != size)
    return fail(Code::internal, "no memory for the certificate of a host");
  return file;
}

std::string winrm_url(const Host& host) {
  bool is_v6 = host.address.find(':') != std::string::npos;
  return fmt::format("https://{}{}{}:{}/wsman", is_v6 ? "[" : "", host.address, is_v6 ? "]" : "",
                     port_of(host));
}

Result<void> read_identity(const Host& host, const net::HttpResponse& answer) {
  if (answer.status == 401)
    return fail(Code::unauthenticated,
                "host '{}' does not let '{}' in with the kept password; it offers {} (this test logs in by "
                "NTLM and Basic)",
                host.name, host.user, answer.headers.get("WWW-Authenticate").value_or("no way to log in"));
  if (!answer.ok() || answer.body.find("IdentifyResponse") == std::string::npos)
    return fail(Code::upstream, "host '{}' answers on port {}, but not as WinRM does (status {})", host.name,
                port_of(host), answer.status);
  return {};
}

}  // namespace

Result<void> identify_winrm(net::HttpClient& http, const Host& host) {
  if (host.user.empty() || host.secret.empty())
    return fail(Code::invalid, "host '{}' has no user or no password: WinRM needs both", host.name);
  Fd certificates;
  net::HttpRequest request;
  request.method = "POST";
  request.url = winrm_url(host);
  // A login has a connection of its own: another test may trust other certificates.
  request.login = net::HttpLogin{host.user, host.secret};
  request.headers = {{"Content-Type", "application/soap+xml;charset=UTF-8"}};
  request.body = kIdentify;
  request.timeout = kIdentifyTimeout;
  request.max_body = kMaxIdentifyAnswer;
  if (!host.host_key.empty()) {
    certificates = TRY(certificate_file(host.host_key));
    request.trust.ca_bundle = fmt::format("/proc/self/fd/{}", certificates.get());
  }
  auto answer = http.send(request);
  if (!answer && answer.error().code == Code::tls)
    return fail(Code::tls,
                "host '{}': {}. Give the certificate to trust as its host_key, where the system's roots "
                "do not have it",
                host.name, answer.error().message);
  if (!answer) return Failure(answer.error());
  return read_identity(host, *answer);
}

}  // namespace dash::automation
