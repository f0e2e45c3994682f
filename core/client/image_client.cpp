#include "core/client/image_client.hpp"

#include <filesystem>

#include "core/client/open_file.hpp"
#include "core/images/formats.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kImages = "/api/images";

class HttpImageClient final : public ImageClient {
 public:
  explicit HttpImageClient(net::ApiClient& api)
      : api_(api),
        uploads_(
            open_http_upload_client(api, fmt::format("{}{}", api.url(), kImages), "/api/images/upload")) {}

  Result<Json> list() override {
    auto answer = TRY(api_.get(kImages));
    if (!answer.is_object() || !answer.contains("items")) return api_.unexpected_response(kImages);
    return answer;
  }
  Result<Json> remove(const std::string& name) override {
    auto path = fmt::format("{}/{}", kImages, net::percent_encode(name));
    auto answer = TRY(api_.remove(path));
    if (!answer.is_object() || !answer.contains("deleted")) return api_.unexpected_response(path);
    return answer;
  }
  UploadClient& uploads() override { return *uploads_; }

 private:
  net::ApiClient& api_;
  std::unique_ptr<UploadClient> uploads_;
};

class LocalImageClient final : public ImageClient {
 public:
  LocalImageClient(images::Images& images, Principal principal, const std::string& data_dir)
      : images_(images),
        principal_(std::move(principal)),
        uploads_(open_local_upload_client(images.uploads(), principal_, data_dir + " images")) {}

  Result<Json> list() override { return Json(to_json(TRY(images_.list(principal_)))); }
  Result<Json> remove(const std::string& name) override {
    TRY(images_.remove(principal_, name));
    return Json{{"ok", true}, {"deleted", name}};
  }
  UploadClient& uploads() override { return *uploads_; }

 private:
  images::Images& images_;
  const Principal principal_;
  std::unique_ptr<UploadClient> uploads_;
};

}  // namespace

std::unique_ptr<ImageClient> open_http_image_client(net::ApiClient& api) {
  return std::make_unique<HttpImageClient>(api);
}

std::unique_ptr<ImageClient> open_local_image_client(images::Images& images, Principal principal,
                                                     const std::string& data_dir) {
  return std::make_unique<LocalImageClient>(images, std::move(principal), data_dir);
}

Result<SendPlan> plan_image(const std::string& path, const std::string& name) {
  auto file = TRY(OpenFile::open(path));
  SendPlan plan{path, name.empty() ? std::filesystem::path(path).filename().string() : name,
                file.identity().size, "chunked"};
  TRY(images::check_image_name(plan.name));
  TRY(images::check_image_size(plan.size));
  std::string front(static_cast<std::size_t>(std::min<std::uint64_t>(plan.size, images::kFrontBytes)), '\0');
  TRY(file.fill(0, front));
  std::string end(std::min<std::size_t>(front.size(), images::kEndBytes), '\0');
  TRY(file.fill(plan.size - end.size(), end));
  TRY(images::check_format(plan.name, plan.size, images::marks_of_front(front) + images::marks_of_end(end)));
  return plan;
}

}  // namespace dash::client
