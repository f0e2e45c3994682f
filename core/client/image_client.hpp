// The images of an instance's hub, over its API or its data folder. Documents are those of /api/images.
// Thread-safe.
#pragma once
#include <memory>
#include <string>

#include "core/client/send.hpp"
#include "core/client/upload_client.hpp"
#include "core/images/images.hpp"

namespace dash::client {

class ImageClient {
 public:
  virtual ~ImageClient() = default;
  virtual Result<Json> list() = 0;
  virtual Result<Json> remove(const std::string& name) = 0;  // {ok, deleted}
  virtual UploadClient& uploads() = 0;
};

std::unique_ptr<ImageClient> open_http_image_client(net::ApiClient& api);
std::unique_ptr<ImageClient> open_local_image_client(images::Images& images, Principal principal,
                                                     const std::string& data_dir);

// Checks a file before a byte is sent, as the instance will: name (blank: the file's), size and format.
Result<SendPlan> plan_image(const std::string& path, const std::string& name);

}  // namespace dash::client
