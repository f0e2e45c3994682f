#include "core/images/image_upload_rules.hpp"

#include <algorithm>

#include "core/images/formats.hpp"
#include "core/images/hub.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::images {

Result<storage::OpenBackend> ImageUploadRules::target(const Principal& principal) {
  return open_hub(stores_, principal);
}

Result<storage::OpenBackend> ImageUploadRules::open(const Principal& principal, const std::string& backend) {
  auto hub = TRY(open_hub(stores_, principal));
  hub.is_active = true;
  if (backend.empty() || backend == hub.id()) return hub;
  auto former = TRY(stores_.open(principal, backend));
  former.prefix = storage::kImagePrefix;
  former.is_active = false;
  return former;
}

Result<void> ImageUploadRules::check_name(const Principal& principal, const storage::OpenBackend&,
                                          const std::string& name) {
  TRY(require_admin(principal));
  return check_image_name(name);
}

Result<void> ImageUploadRules::check_size(std::uint64_t size) { return check_image_size(size); }

std::string ImageUploadRules::record_name(const std::string& name) const { return digest_record_name(name); }

// The last 512 bytes lie within the last part whenever they can be a footer: then the size is a multiple of
// 512, as that of a full part is.
std::string ImageUploadRules::marks_of(const storage::Handle& handle, std::uint32_t n,
                                       std::string_view part_bytes) const {
  std::string marks;
  if (n == 1) marks += " front" + marks_of_front(part_bytes);
  if (n == storage::part_count(handle.size))
    marks +=
        " end" + marks_of_end(part_bytes.substr(part_bytes.size() - std::min(part_bytes.size(), kEndBytes)));
  return marks;
}

Result<void> ImageUploadRules::check_parts(const storage::Handle& handle,
                                           const storage::CommitList& parts) const {
  if (!std::ranges::all_of(parts, [](const auto& part) { return part.has_value(); }))
    return fail(Code::invalid,
                "commit an image with the ref of every part: parts is a list of {{part, ref}}");
  auto marks = parts.front()->marks;
  if (parts.size() > 1) marks += parts.back()->marks;
  return check_format(handle.name, handle.size, marks);
}

}  // namespace dash::images
