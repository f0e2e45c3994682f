// The functions of a chunked upload: of assets, or of images. Both implementations return the same JSON.
// Thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/net/http/api_client.hpp"
#include "core/storage/upload/chunked_uploads.hpp"

namespace dash::client {

class UploadClient {
 public:
  virtual ~UploadClient() = default;
  // Returns the name of the instance and of the kind of upload, for messages and for the key of a resumable
  // upload.
  virtual std::string name() const = 0;
  virtual Result<storage::Sequence> sequence() = 0;
  virtual Result<Json> begin(const std::string& name, std::uint64_t size) = 0;
  // Sends a part. An implementation that can calls `left` when the last byte is sent and the response has not
  // arrived yet.
  virtual Result<Json> put_part(const std::string& handle, std::uint32_t n, const storage::Payload& part,
                                const std::function<void()>& left) = 0;
  virtual Result<Json> status(const std::string& handle) = 0;
  virtual Result<Json> commit(const std::string& handle, const Json& parts) = 0;
  virtual Result<Json> abort(const std::string& handle) = 0;
};

// `prefix` is that of the routes: "/api/storage/upload".
std::unique_ptr<UploadClient> open_http_upload_client(net::ApiClient& api, std::string name,
                                                      std::string prefix);
std::unique_ptr<UploadClient> open_local_upload_client(storage::ChunkedUploads& uploads, Principal principal,
                                                       std::string name);

}  // namespace dash::client
