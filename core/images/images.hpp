// The images of the hub: list, delete, upload. For admins alone, audited. Thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"
#include "core/images/image_upload_rules.hpp"
#include "core/storage/upload/chunked_uploads.hpp"

namespace dash::images {

struct Image {
  std::string name;
  std::string format;  // as the name says; "" where another program placed a file of another kind
  std::uint64_t size = 0;
  std::string digest;  // "" when not known
};
struct ImageList {
  std::string hub;           // as this instance spells it
  std::vector<Image> items;  // by name, byte order
};
// {hub, items: [{name, format, size, digest}]}; format and digest are null when not known.
OrderedJson to_json(const ImageList& list);

struct ImagesDeps {
  storage::Stores& stores;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
};

class Images {
 public:
  // `key` seals handles and refs of uploads, the same on every replica.
  Images(const ImagesDeps& deps, Secret key)
      : deps_(deps),
        rules_(deps.stores),
        uploads_({rules_, deps.sql, deps.audit, deps.clock}, std::move(key)) {}

  // Code::invalid without a hub.
  Result<ImageList> list(const Principal& principal);
  // Code::not_found when the hub has no such image.
  Result<void> remove(const Principal& principal, const std::string& name);
  storage::ChunkedUploads& uploads() { return uploads_; }

 private:
  ImagesDeps deps_;
  ImageUploadRules rules_;
  storage::ChunkedUploads uploads_;
};

}  // namespace dash::images
