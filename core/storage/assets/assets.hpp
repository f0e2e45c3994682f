// What is stored: list, fetch, delete, scope, reachability probe (2-storage.md, Endpoints). Every call asks
// scope; an asset that the asker may not see is as absent as one that is not there. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/storage/assets/scope.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

struct Asset {
  std::string name;
  std::string_view type;
  std::uint64_t size = 0;
  std::string backend;  // as this instance spells it
  Workgroup workgroup;
  std::string digest;  // "" when not known
};
struct Listing {
  std::string backend;
  std::vector<Asset> items;  // by name, byte order
};
struct Found {
  Asset asset;
  Object object;
  std::string key;
  std::shared_ptr<ObjectStore> store;
};
struct Named {
  std::string backend;  // in either spelling; blank: the active one
  std::string name;
};
struct Removal {
  struct Failed {
    Named item;
    std::string error;
  };
  std::vector<Named> deleted;
  std::vector<Failed> failed;
};
struct Probe {
  std::size_t count = 0;
  std::string error;  // "" when reachable
};

OrderedJson to_json(const Asset&);
OrderedJson to_json(const Listing&);
// {deleted: [{name, backend}], failed: [{name, backend, error}], summary}
OrderedJson to_json(const Removal&);
OrderedJson to_json(const Probe&);

class Assets {
 public:
  struct Seams {
    Stores& stores;
    Scopes& scopes;
    db::Sql& sql;
    audit::Log& audit;
  };
  explicit Assets(Seams seams) : seams_(seams) {}

  // Of the active backend, for everybody.
  Result<Listing> list(const Principal& who);
  // Of a named one, for admins.
  Result<Listing> list(const Principal& who, std::string_view backend);
  // Of every configured backend, in their fixed order; one that cannot be listed is left out and logged.
  Result<std::vector<Asset>> list_all(const Principal& who);
  // Blank backend: the active one. Code::not_found for everything that stands in the way of a name, and for
  // an unknown backend.
  Result<Found> find(const Principal& who, std::string_view backend, const std::string& name);
  // find(), and the first bytes of the content into `first`; how many.
  Result<std::pair<Found, std::size_t>> open(const Principal& who, std::string_view backend,
                                             const std::string& name, std::span<char> first);
  // Blank backend: the active one. Drops the scope.
  Result<void> remove(const Principal& who, const std::string& name, std::string_view backend = "");
  // One that fails does not end the run. Code::invalid for none.
  Result<Removal> remove_many(const Principal& who, const std::vector<Named>& items);
  // Blank backend: the active one. Answers as the asset is now.
  Result<Asset> set_scope(const Principal& who, std::string_view backend, const std::string& name,
                          const Workgroup& workgroup);
  // Lists, and tells what went wrong as an answer. Code::invalid for an unknown backend.
  Result<Probe> test(const Principal& who, std::string_view backend);

 private:
  using Look = std::function<Result<Object>(ObjectStore& store, const std::string& key)>;
  Result<Found> find_by(const Look& look, const Principal& who, std::string_view backend,
                        const std::string& name);
  Result<Listing> list_at(const Principal& who, const Opened& at);
  Result<std::string> digest_of(const Opened& at, const std::string& name, const Object& object);
  Seams seams_;
};

}  // namespace dash::storage
