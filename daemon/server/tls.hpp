// TLS for a daemon without a proxy: certificate chain and key from PEM files. Private to the server.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "core/base/error.hpp"

namespace dash::daemon {

using TlsContext = std::unique_ptr<boost::asio::ssl::context>;

// Returns null when neither file is named. TLS 1.2 and above. Code::usage names the file that cannot be used.
Result<TlsContext> load_tls(const std::string& certificate_file, const std::string& key_file);

}  // namespace dash::daemon
