// A source inside of a container. The store is read where its key is, so secrets and webhook URLs are
// included. It calls `dashctl` first; an image without it may contain the peer dashboard's own export.
// Standard output of the container is data: it is never shown, not even when it cannot be parsed.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"
#include "core/net/process/child.hpp"
#include "core/setup/webhooks.hpp"

namespace dash::migrate {

struct ContainerExportOptions {
  std::string container = {};     // name or id; empty: by compose
  std::string compose_file = {};  // empty: the one in this folder
  std::string service = "app";
  std::string data_dir = {};  // of dashctl in the container; empty: its own default
  bool include_on_prem = false;
};

struct ContainerExportResult {
  config::Values values;  // canonical; region sets as their keys
  std::vector<setup::FullWebhook> webhooks;
  std::map<std::string, std::string> excluded;  // excluded inside already
  std::string exporter;                         // "dashctl" or "the dashboard's own export"
  std::size_t noise_bytes = 0;                  // bytes of stdout that were not the document
};

// Runs one command on the machine of the docker client; argv[0] is "docker".
using RunDocker = std::function<Result<net::ProcessResult>(const std::vector<std::string>& argv)>;

// Code::unreachable when the engine or the container is not available, with docker's message; Code::integrity
// when the store inside cannot be opened, or the output holds no configuration; Code::unsupported when
// neither program is in the image.
Result<ContainerExportResult> export_from_container(const RunDocker& run,
                                                    const ContainerExportOptions& options);

// The first JSON object with a member "config" that starts a line, and the count of bytes around it.
struct ExtractResult {
  Json document;
  std::size_t noise_bytes = 0;
};
std::optional<ExtractResult> extract_document(std::string_view out);

}  // namespace dash::migrate
