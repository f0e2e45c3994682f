#include "core/storage/store/azure_blob/container.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/store/azure_blob/leases.hpp"

namespace dash::storage::azure_blob {
namespace {

Result<void> make_container(Client& client) {
  std::string code;
  auto made = client.execute(
      {.what = "creating the container", .method = "PUT", .query = {{"restype", "container"}}}, &code);
  if (made || code == "ContainerAlreadyExists") return {};
  auto error = std::move(made).error();
  if (code == "ContainerBeingDeleted") error.code = Code::busy;
  return Failure(std::move(error));
}

net::HttpResponse empty_listing() {
  net::HttpResponse response;
  response.status = 200;
  response.body = "<EnumerationResults><Blobs/></EnumerationResults>";
  return response;
}

}  // namespace

std::string metadata(std::string_view name) { return "x-ms-meta-" + std::string(name); }

void add_options(Call& call, const PutOptions& options) {
  if (options.only_if_absent) call.headers.add("If-None-Match", "*");
  if (!options.digest.empty()) call.headers.add(metadata(kDigestMetadata), options.digest);
  if (!options.lease.empty()) call.headers.add("x-ms-lease-id", options.lease);
  if (!options.lease_note.empty())
    call.headers.add(metadata(kLockMetadata), crypto::to_base64(options.lease_note));
}

Result<net::HttpResponse> write_blob(Client& client, const Call& call, const PutOptions& options) {
  std::string code;
  auto response = client.execute(call, &code);
  if (!response && code == "ContainerNotFound") {
    TRY(make_container(client));
    response = client.execute(call, &code);
  }
  if (response) return response;
  auto error = std::move(response).error();
  if (options.only_if_absent && (code == "BlobAlreadyExists" || error.code == Code::precondition))
    return fail(Code::conflict, "the object '{}' already exists", call.key);
  if (code == "InvalidBlockList") {
    // A commit drops the blocks of every other upload to the name.
    error.code = Code::not_found;
    error.message += "; another upload of that name was committed meanwhile, or this one is too old";
  }
  if (code == "InvalidBlobOrBlock")
    error.message += "; another tool's unfinished upload of that name is in the way for up to a week";
  return Failure(std::move(error));
}

Result<net::HttpResponse> put_blob(Client& client, const std::string& key, std::string_view bytes,
                                   const PutOptions& options) {
  Call call{.what = "writing " + key, .method = "PUT", .key = key, .body = bytes};
  call.headers = {{"x-ms-blob-type", "BlockBlob"}, {"Content-MD5", crypto::to_base64(crypto::md5(bytes))}};
  add_options(call, options);
  return write_blob(client, call, options);
}

Result<net::HttpResponse> request_list(Client& client, std::string_view prefix, std::string_view cursor,
                                       std::string_view include) {
  Call call{.what = "listing",
            .query = {{"restype", "container"},
                      {"comp", "list"},
                      {"include", std::string(include)},
                      {"maxresults", "1000"},
                      {"prefix", std::string(prefix)}}};
  if (!cursor.empty()) call.query.emplace_back("marker", cursor);
  std::string code;
  auto response = client.execute(call, &code);
  if (!response && code == "ContainerNotFound") return empty_listing();  // the first upload makes it
  return response;
}

Result<std::vector<Block>> uncommitted_blocks(Client& client, const std::string& key) {
  auto response = client.execute({.what = "listing the parts of " + key,
                                  .key = key,
                                  .query = {{"comp", "blocklist"}, {"blocklisttype", "uncommitted"}}});
  // Neither a blob nor a block of that name.
  if (!response && response.error().code == Code::not_found) return std::vector<Block>();
  return parse_blocks(TRY(std::move(response)).body);
}

std::uint64_t total_size(const std::vector<Block>& blocks) {
  std::uint64_t bytes = 0;
  for (const auto& block : blocks) bytes += block.size;
  return bytes;
}

}  // namespace dash::storage::azure_blob
