#include "daemon/server/tls.hpp"

namespace dash::daemon {

Result<TlsContext> load_tls(const std::string& certificate_file, const std::string& key_file) {
  namespace ssl = boost::asio::ssl;
  if (certificate_file.empty() && key_file.empty()) return nullptr;
  if (certificate_file.empty() || key_file.empty())
    return fail(Code::usage, "TLS needs both files, the certificate chain and its key");
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                       error);
  // An idle connection holds 34 KiB less.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  context->use_certificate_chain_file(certificate_file, error);
  if (error)
    return fail(Code::usage, "cannot use the TLS certificate {}: {}", certificate_file, error.message());
  context->use_private_key_file(key_file, ssl::context::pem, error);
  if (error) return fail(Code::usage, "cannot use the TLS key {}: {}", key_file, error.message());
  if (SSL_CTX_check_private_key(context->native_handle()) != 1)
    return fail(Code::usage, "the TLS key {} does not belong to the certificate {}", key_file,
                certificate_file);
  return context;
}

}  // namespace dash::daemon
