#include "core/client/image_client.hpp"

#include <filesystem>

#include "core/client/job_follower.hpp"
#include "core/client/open_file.hpp"
#include "core/client/stoppable.hpp"
#include "core/images/formats.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kImages = "/api/images";

// Returns what draws the progress of a job with the image.
jobs::OnProgress drawing(Progress& progress, const std::string& name) {
  return [&progress, name](const jobs::JobProgress& of_job) {
    progress.update(name, of_job.bytes_done, of_job.bytes_total, Unit::bytes);
  };
}

class HttpImageClient final : public ImageClient {
 public:
  explicit HttpImageClient(net::ApiClient& api)
      : api_(api),
        follower_(api),
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
  Result<Json> place(const images::PlaceRequest& request, Progress& progress) override {
    return do_job(std::string(kImages),
                  {{"name", request.name}, {"source", {{"backend", request.backend}, {"key", request.key}}}},
                  drawing(progress, request.name));
  }
  Result<Json> promote(const images::PromoteRequest& request, Progress& progress) override {
    return do_job(fmt::format("{}/{}/promote", kImages, net::percent_encode(request.name)),
                  {{"cloud", request.cloud}}, drawing(progress, request.name));
  }
  void stop_job() override { follower_.cancel(); }
  UploadClient& uploads() override { return *uploads_; }

 private:
  Result<Json> do_job(const std::string& path, const Json& body, const jobs::OnProgress& on_progress) {
    if (!TRY(follower_.has_workers()))
      return fail(Code::conflict, "nobody runs jobs at {}; start one with `dashctl serve --workers 1`",
                  api_.url());
    auto answer = TRY(api_.post(path, body));
    auto job_id = answer.is_object() ? string_member(answer, "job_id") : std::nullopt;
    if (!job_id) return api_.unexpected_response(path);
    return follower_.wait(*job_id, "; the image was not copied", on_progress);
  }
  net::ApiClient& api_;
  JobFollower follower_;
  std::unique_ptr<UploadClient> uploads_;
};

class LocalImageClient final : public ImageClient {
 public:
  explicit LocalImageClient(LocalImageDeps deps)
      : deps_(std::move(deps)),
        uploads_(
            open_local_upload_client(deps_.images.uploads(), deps_.principal, deps_.data_dir + " images")) {}

  Result<Json> list() override { return Json(to_json(TRY(deps_.images.list(deps_.principal)))); }
  Result<Json> remove(const std::string& name) override {
    TRY(deps_.images.remove(deps_.principal, name));
    return Json{{"ok", true}, {"deleted", name}};
  }
  Result<Json> place(const images::PlaceRequest& request, Progress& progress) override {
    return do_job(request, drawing(progress, request.name));
  }
  Result<Json> promote(const images::PromoteRequest& request, Progress& progress) override {
    return do_job(request, drawing(progress, request.name));
  }
  void stop_job() override { job_.stop(); }
  UploadClient& uploads() override { return *uploads_; }

 private:
  Result<Json> do_job(const images::ImageRequest& request, const jobs::OnProgress& on_progress) {
    auto result = TRY(job_.run([&] {
      return deps_.jobs.run(
          deps_.principal, request, [this] { return job_.is_stopped(); }, on_progress);
    }));
    return Json(result);
  }
  LocalImageDeps deps_;
  Stoppable job_;
  std::unique_ptr<UploadClient> uploads_;
};

}  // namespace

std::unique_ptr<ImageClient> open_http_image_client(net::ApiClient& api) {
  return std::make_unique<HttpImageClient>(api);
}

std::unique_ptr<ImageClient> open_local_image_client(LocalImageDeps deps) {
  return std::make_unique<LocalImageClient>(std::move(deps));
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
