#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/base/log.hpp"
#include "core/base/trace.hpp"
#include "core/net/http/http_client.hpp"
#include "core/net/http/stoppable_client.hpp"

namespace dash::net {
namespace {

constexpr long kTransferBuffer = 256L << 10;
constexpr long kLowSpeedBytes = 1;  // less in a second is silence

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// What one transfer collects while libcurl calls back.
struct Transfer {
  const HttpRequest& request;
  const std::function<bool()>& should_stop;  // may be empty
  HttpResponse response;
  bool is_header_complete = false;
  std::size_t sent = 0;
  std::optional<Error> abort_error;  // why this side ended the transfer

  std::size_t read_source(std::span<char> into) {
    auto got = request.body_source->read(into);
    if (!got) {
      abort_error = got.error();
      return CURL_READFUNC_ABORT;
    }
    sent += *got;
    return *got;
  }

  Result<void> write_body(std::string_view bytes) {
    response.body_size += bytes.size();
    if (response.ok() && request.body_sink) return request.body_sink->write(bytes);
    if (response.body_size > request.max_body)
      return fail(Code::upstream, "{} sent more than {} bytes", origin_of(request.url), request.max_body);
    response.body += bytes;
    return {};
  }
};

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& x = *static_cast<Transfer*>(user);
  auto taken = x.write_body({data, size * count});
  if (taken) return size * count;
  x.abort_error = taken.error();
  return 0;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& x = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // a new header section: the one before was 1xx or a proxy's CONNECT
    x.response.headers = {};
    x.is_header_complete = false;
    auto space = line.find(' ');
    x.response.status = space == line.npos ? 0 : std::atoi(std::string(line.substr(space + 1, 3)).c_str());
  } else if (line.empty()) {
    x.is_header_complete = true;
  } else if (auto colon = line.find(':'); colon != line.npos) {
    auto value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    x.response.headers.add(std::string(line.substr(0, colon)), std::string(value));
  }
  return size * count;
}

std::size_t on_read(char* out, std::size_t size, std::size_t count, void* user) {
  auto& x = *static_cast<Transfer*>(user);
  if (x.request.body_source) return x.read_source({out, size * count});
  auto rest = x.request.body.substr(x.sent);
  auto n = std::min(rest.size(), size * count);
  std::memcpy(out, rest.data(), n);
  x.sent += n;
  return n;
}

int on_seek(void* user, curl_off_t offset, int origin) {
  auto& x = *static_cast<Transfer*>(user);
  if (x.request.body_source) return x.sent == 0 && offset == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  x.sent = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& x = *static_cast<Transfer*>(user);
  if (!x.should_stop()) return 0;
  x.abort_error = make_error(Code::interrupted, "the request to {} was stopped", origin_of(x.request.url));
  return 1;
}

// Adds the extra roots to the system's.
CURLcode add_roots(CURL*, void* ssl_ctx, void* user) {
  auto* store = SSL_CTX_get_cert_store(static_cast<SSL_CTX*>(ssl_ctx));
  return X509_STORE_load_file(store, static_cast<const char*>(user)) == 1 ? CURLE_OK
                                                                          : CURLE_SSL_CACERT_BADFILE;
}

Failure curl_failure(CURLcode rc, const HttpRequest& request, const char* text) {
  auto origin = origin_of(request.url);
  auto error = [&](Code code, std::string message) {
    return Failure(Error{.code = code,
                         .message = std::move(message),
                         .detail = fmt::format("curl {}: {}", static_cast<int>(rc), text)});
  };
  switch (rc) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      return error(Code::tls, fmt::format("TLS with {} failed: {}", origin, text));
    case CURLE_SSL_CACERT_BADFILE:
      return error(Code::tls, fmt::format("the CA bundle {} is missing or holds no PEM certificate",
                                          request.trust.ca_bundle));
    case CURLE_OPERATION_TIMEDOUT:
      return error(Code::timeout, fmt::format("{} did not answer in time", origin));
    case CURLE_UNSUPPORTED_PROTOCOL:  // also of an answer without a status line, which it takes for HTTP/0.9
      if (request.url.starts_with("http"))
        return error(Code::unreachable, fmt::format("{} does not speak HTTP: {}", origin, text));
      [[fallthrough]];
    case CURLE_URL_MALFORMAT:
      return error(Code::invalid, fmt::format("'{}' is not an http or https address", origin));
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
      return error(Code::unreachable, fmt::format("{} cut the connection: {}", origin, text));
    default:
      return error(Code::unreachable, fmt::format("cannot reach {}: {}", origin, text));
  }
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(std::function<bool()> should_stop = {}) : should_stop_(std::move(should_stop)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    CURL* h = handle();
    curl_easy_reset(h);
    Transfer transfer{request, should_stop_, {}, false, 0, {}};
    std::array<char, CURL_ERROR_SIZE> text{};
    std::unique_ptr<curl_slist, ListDeleter> headers(header_list(request));
    set_common(h, request, text.data());
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers.get());
    if (request.login) set_login(h, *request.login);
    set_callbacks(h, transfer);
    set_method(h, request);
    auto rc = curl_easy_perform(h);
    log::debug("http.call", {{"method", request.method},
                             {"origin", origin_of(request.url)},
                             {"status", transfer.response.status},
                             {"trace_id", current_trace() ? current_trace()->trace_id : ""}});
    if (transfer.abort_error) return Failure(*std::move(transfer.abort_error));
    if (rc != CURLE_OK) return curl_failure(rc, request, text[0] ? text.data() : curl_easy_strerror(rc));
    // libcurl takes a header section that was cut for a response without a body.
    if (!transfer.is_header_complete)
      return curl_failure(CURLE_RECV_ERROR, request, "in the middle of an answer");
    return std::move(transfer.response);
  }

 private:
  // A reused handle keeps its connections and its TLS sessions.
  static CURL* handle() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    thread_local std::unique_ptr<CURL, EasyDeleter> easy(curl_easy_init());
    return easy.get();
  }

  static curl_slist* header_list(const HttpRequest& request) {
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    for (const auto& [name, value] : request.headers)
      list = curl_slist_append(
          list, (value.empty() ? fmt::format("{};", name) : fmt::format("{}: {}", name, value)).c_str());
    if (const auto* trace = current_trace())
      list = curl_slist_append(list, ("traceparent: " + to_traceparent(*trace)).c_str());
    return list;
  }

  static void set_common(CURL* h, const HttpRequest& request, char* text) {
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, text);
    curl_easy_setopt(h, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
    curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, kLowSpeedBytes);
    curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.idle_timeout.count()));
    curl_easy_setopt(h, CURLOPT_BUFFERSIZE, kTransferBuffer);
    curl_easy_setopt(h, CURLOPT_UPLOAD_BUFFERSIZE, kTransferBuffer);
    curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
    if (!request.unix_socket.empty()) {
      curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
      curl_easy_setopt(h, CURLOPT_PROXY, "");
    }
    if (request.trust.insecure) {
      curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 0L);
      curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 0L);
    } else if (!request.trust.ca_bundle.empty()) {
      curl_easy_setopt(h, CURLOPT_SSL_CTX_FUNCTION, add_roots);
      curl_easy_setopt(h, CURLOPT_SSL_CTX_DATA, const_cast<char*>(request.trust.ca_bundle.c_str()));
    }
  }

  // NTLM is of the connection, not of the request, so that another user must not get it.
  static void set_login(CURL* h, const HttpLogin& login) {
    curl_easy_setopt(h, CURLOPT_HTTPAUTH, CURLAUTH_NTLM | CURLAUTH_BASIC);
    curl_easy_setopt(h, CURLOPT_USERNAME, login.user.c_str());
    curl_easy_setopt(h, CURLOPT_PASSWORD, login.password.expose().c_str());
    curl_easy_setopt(h, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(h, CURLOPT_FORBID_REUSE, 1L);
  }

  static void set_callbacks(CURL* h, Transfer& transfer) {
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(h, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(h, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(h, CURLOPT_SEEKDATA, &transfer);
    if (!transfer.should_stop) return;
    curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(h, CURLOPT_XFERINFODATA, &transfer);
  }

  static void set_method(CURL* h, const HttpRequest& request) {
    auto size = static_cast<curl_off_t>(request.body_source ? request.body_source_size : request.body.size());
    if (request.method == "HEAD") {
      curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    } else if (request.method == "PUT" || request.method == "PATCH") {
      curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, size);
    } else if (request.method == "POST" || size > 0) {
      curl_easy_setopt(h, CURLOPT_POST, 1L);
      curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, size);
    }
    if (request.method != "HEAD") curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  const std::function<bool()> should_stop_;
};

}  // namespace

std::unique_ptr<HttpClient> make_curl_client() { return std::make_unique<CurlClient>(); }

std::unique_ptr<HttpClient> make_stoppable_client(std::function<bool()> should_stop) {
  return std::make_unique<CurlClient>(std::move(should_stop));
}

}  // namespace dash::net
