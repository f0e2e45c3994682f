// Calls to a container that may not exist yet: the first write makes it, and a listing finds nothing.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/store/azure_blob/client.hpp"
#include "core/storage/store/azure_blob/codec.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::azure_blob {

// Returns the header of a blob's metadata.
std::string metadata(std::string_view name);

// Adds what the options ask for as headers.
void add_options(Call& call, const PutOptions& options);

// Code::conflict when the blob exists and must not; Code::not_found when a commit names blocks that are gone.
Result<net::HttpResponse> write_blob(Client& client, const Call& call, const PutOptions& options);

// Writes a whole blob.
Result<net::HttpResponse> put_blob(Client& client, const std::string& key, std::string_view bytes,
                                   const PutOptions& options);

// Returns a page of the listing; `include` as in the service's query.
Result<net::HttpResponse> request_list(Client& client, std::string_view prefix, std::string_view cursor,
                                       std::string_view include);

// Returns the uncommitted blocks of all uploads to the key.
Result<std::vector<Block>> uncommitted_blocks(Client& client, const std::string& key);
std::uint64_t total_size(const std::vector<Block>& blocks);

}  // namespace dash::storage::azure_blob
