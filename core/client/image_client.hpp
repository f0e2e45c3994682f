// The images of an instance's hub, over its API or its data folder. Documents are those of /api/images.
// Thread-safe.
#pragma once
#include <memory>
#include <string>

#include "core/base/progress.hpp"
#include "core/client/send.hpp"
#include "core/client/upload_client.hpp"
#include "core/images/image_jobs.hpp"
#include "core/images/images.hpp"

namespace dash::client {

class ImageClient {
 public:
  virtual ~ImageClient() = default;
  virtual Result<Json> list() = 0;
  virtual Result<Json> remove(const std::string& name) = 0;  // {ok, deleted}
  // Waits for the job and returns its result (core/images/image_jobs.hpp).
  virtual Result<Json> place(const images::PlaceRequest& request, Progress& progress) = 0;
  virtual Result<Json> promote(const images::PromoteRequest& request, Progress& progress) = 0;
  // Called by another thread while one waits for a job: cancels it, and waits a while until it has stopped
  // where this process runs it.
  virtual void stop_job() = 0;
  virtual UploadClient& uploads() = 0;
};

std::unique_ptr<ImageClient> open_http_image_client(net::ApiClient& api);
struct LocalImageDeps {
  images::Images& images;
  images::ImageJobs& jobs;
  Principal principal;
  std::string data_dir;
};
std::unique_ptr<ImageClient> open_local_image_client(LocalImageDeps deps);

// Checks a file before a byte is sent, as the instance will: name (blank: the file's), size and format.
Result<SendPlan> plan_image(const std::string& path, const std::string& name);

}  // namespace dash::client
