// Reads from a store whose responses describe the object in their headers (ETag, Last-Modified,
// Content-Length and Content-Range). The base of the stores of Azure, OCI and S3.
#pragma once
#include <string>
#include <string_view>

#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

class HttpObjectStore : public ObjectStore {
 public:
  Result<Object> head(const std::string& key) final;
  using ObjectStore::read;
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) final;
  Result<OpenResult> open(const std::string& key, std::span<char> out) final;

 protected:
  // Keys have passed check_key().
  virtual Result<net::HttpResponse> send_head(const std::string& key) = 0;
  // Sends a GET. The body of a 2xx response goes to `body`.
  virtual Result<net::HttpResponse> send_get(const std::string& key, ByteRange range,
                                             std::string_view must_match, Sink& body) = 0;
  // Returns what the response's headers contain of the object, without its size.
  virtual Object describe(const std::string& key, const net::HttpResponse& answer) const = 0;

  // Returns the object that a PUT wrote, without its time. Code::upstream for a response that does not name its
  // version: something else than the store sent it.
  Result<Object> written_object(const std::string& key, const net::HttpResponse& answer,
                                const Payload& payload, const PutOptions& options) const;
  // Returns the object of a response to HEAD or GET.
  Result<Object> object_of(const std::string& key, const net::HttpResponse& answer) const;
};

// Returns the ETag unchanged, Last-Modified, and the digest from the store's own header for it.
Object describe_by_headers(const std::string& key, const net::HttpResponse& answer,
                           std::string_view digest_header);

}  // namespace dash::storage
