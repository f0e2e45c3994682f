#include "core/storage/store/azure_blob/leases.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/store/azure_blob/container.hpp"

namespace dash::storage::azure_blob {

std::optional<std::string> lease_note(const net::HttpResponse& head) {
  auto state = head.headers.get("x-ms-lease-state").value_or("");
  if (state != "leased" && state != "breaking") return std::nullopt;
  auto note = crypto::from_base64(std::string(head.headers.get(metadata(kLockMetadata)).value_or("")));
  return note.value_or("");
}

Result<void> take_lease(Client& client, const std::string& key, const std::string& id,
                        const std::string& note) {
  Call call{.what = "leasing " + key, .method = "PUT", .key = key};
  call.query = {{"comp", "lease"}};
  call.headers = {
      {"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}, {"x-ms-proposed-lease-id", id}};
  auto taken = client.execute(call);
  if (!taken && taken.error().code == Code::not_found) {
    PutOptions only_new;
    only_new.only_if_absent = true;
    auto made = put_blob(client, key, {}, only_new);
    if (!made && made.error().code != Code::conflict) return Failure(std::move(made).error());
    taken = client.execute(call);
  }
  TRY(std::move(taken));
  Call noting{.what = "noting the lease of " + key, .method = "PUT", .key = key};
  noting.query = {{"comp", "metadata"}};
  noting.headers = {{"x-ms-lease-id", id}, {metadata(kLockMetadata), crypto::to_base64(note)}};
  TRY(client.execute(noting));
  return {};
}

Result<void> release_lease(Client& client, const std::string& key, const std::string& id) {
  Call call{.what = "ending the lease of " + key, .method = "PUT", .key = key};
  call.query = {{"comp", "lease"}};
  call.headers = {{"x-ms-lease-action", "release"}, {"x-ms-lease-id", id}};
  TRY(client.execute(call));
  return {};
}

}  // namespace dash::storage::azure_blob
