#include "core/storage/store/gcs/versions.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/gcs/codec.hpp"
#include "core/storage/store/key.hpp"

namespace dash::storage::gcs {
namespace {

std::string bucket_path(const Client& client) {
  return "/storage/v1/b/" + net::percent_encode(client.bucket());
}

}  // namespace

Result<Versioning> parse_versioning(std::string_view text) {
  auto json = parse_json(text);
  if (!json || !json->is_object())
    return fail(Code::upstream, "Google Cloud Storage answered a bucket in a form that is not its API's");
  auto versioning = json->value("versioning", Json::object());
  bool is_on = versioning.is_object() && versioning.value("enabled", Json()) == Json(true);
  return is_on ? Versioning::on : Versioning::off;
}

// An object that is not the newest has the time at which it was replaced or deleted.
Result<GenerationsPage> parse_generations(std::string_view text, std::string_view key) {
  auto page = TRY(parse_list(text));
  auto json = TRY(parse_json(text));
  GenerationsPage out{{}, std::move(page.next_page_token)};
  for (std::size_t i = 0; i < page.objects.size(); ++i) {
    const auto& object = page.objects[i];
    if (object.name != key) continue;
    ObjectVersion version{.id = object.generation, .size = object.size, .modified = object.updated};
    version.is_current = !json["items"][i].contains("timeDeleted");
    out.versions.push_back(std::move(version));
  }
  return out;
}

Result<VersionsResult> find_versions(Client& client, const std::string& key) {
  VersionsResult result{Versioning::unknown, {}};
  auto bucket =
      client.execute({.what = "asking for versioning", .target = bucket_path(client) + "?fields=versioning"});
  if (!bucket && bucket.error().code != Code::upstream) return Failure(std::move(bucket).error());
  if (bucket) result.versioning = TRY(parse_versioning(bucket->body));
  if (key.empty()) return result;
  TRY(check_key(key));
  auto target = fmt::format("{}/o?prefix={}&versions=true&maxResults=1000", bucket_path(client),
                            net::percent_encode(key));
  std::string token;
  do {
    auto page_target = token.empty() ? target : target + "&pageToken=" + net::percent_encode(token);
    auto answer = TRY(client.execute({.what = "listing the versions of " + key, .target = page_target}));
    auto page = TRY(parse_generations(answer.body, key));
    std::ranges::move(page.versions, std::back_inserter(result.versions));
    TRY(advance_cursor(token, std::move(page.next_page_token)));
  } while (!token.empty());
  std::ranges::reverse(result.versions);
  return result;
}

}  // namespace dash::storage::gcs
