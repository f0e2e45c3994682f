#include "core/storage/assets/asset_list.hpp"

#include <algorithm>
#include <array>

#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage {
namespace {

// The dashboard's own folders at the root of a store. They are no assets where assets are at the root too (a
// file system has no prefix).
constexpr std::array<std::string_view, 2> kOwnFolders{"iac-state/", "dashctl-audit/"};

std::string aad_of(const OpenBackend& at) {
  return fmt::format("dashctl list cursor v1\n{}\n{}\n{}", at.id(), at.store->place(), at.prefix);
}

}  // namespace

std::string_view type_of(std::string_view name) { return asset_type(name).value_or("other"); }

bool is_asset(const OpenBackend& at, std::string_view name) {
  bool is_own = at.prefix.empty() &&
                std::ranges::any_of(kOwnFolders, [&](auto folder) { return name.starts_with(folder); });
  return !is_own && check_key(name).has_value();
}

Result<NamedPage> read_page(const OpenBackend& at, const std::string& cursor) {
  auto listed = at.store->list(at.prefix, cursor);
  if (!listed && listed.error().code == Code::not_found) listed.error().code = Code::upstream;  // the bucket
  if (!listed) return Failure(std::move(listed).error());
  NamedPage page{{}, cursor};
  TRY(advance_cursor(page.cursor, std::move(listed->cursor)));
  for (auto& object : listed->objects) {
    if (!object.key.starts_with(at.prefix)) continue;
    auto name = object.key.substr(at.prefix.size());
    if (is_asset(at, name)) page.items.push_back({std::move(name), std::move(object)});
  }
  std::ranges::sort(page.items, {}, &NamedObject::name);
  return page;
}

std::string seal_cursor(const Secret& key, const OpenBackend& at, const std::string& cursor) {
  if (cursor.empty()) return "";
  return crypto::to_base64url(crypto::seal(key, cursor, aad_of(at)));
}

Result<std::string> open_cursor(const Secret& key, const OpenBackend& at, std::string_view text) {
  if (text.empty()) return std::string();
  auto sealed = crypto::from_base64url(text);
  if (sealed)
    if (auto plain = crypto::open(key, *sealed, aad_of(at))) return plain;
  return fail(Code::invalid, "the cursor is not one of this listing; list again from the front");
}

}  // namespace dash::storage
