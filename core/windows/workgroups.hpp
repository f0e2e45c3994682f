// Workgroups as the API edits them: members, and the change window inside of which their changes are
// admitted.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/identity/directory.hpp"
#include "core/windows/windows.hpp"

namespace dash::windows {

struct Workgroup {
  std::string name;
  std::string description;
  Time created_at;
  std::optional<std::string> window_id, window_name;
  bool requires_window = false;
  std::vector<std::string> members;
};
OrderedJson to_json(const Workgroup& group);

// That the workgroup of a change exists and is one of `principal`. Who is no admin gets Code::forbidden for an
// unknown one too, so that he does not learn which there are; an admin gets Code::invalid.
Result<void> check_workgroup(db::Transaction& tx, const Principal& principal, const std::string& name);

class Workgroups {
 public:
  Workgroups(db::Sql& sql, identity::Directory& directory, audit::Log& audit, Windows& windows)
      : sql_(sql), directory_(directory), audit_(audit), windows_(windows) {}

  Result<std::vector<Workgroup>> list();
  Result<Workgroup> get(const std::string& name);
  // The rest is for admins who signed in (no tokens), and audited. `body`: {name, description?}.
  Result<Workgroup> create(const Principal& principal, const Json& body);
  // {description?, change_window_id?, require_change_window?}: null leaves, "" clears. Attaching a window
  // enforces it unless require_change_window is false; requiring one without a window is Code::invalid.
  Result<Workgroup> update(const Principal& principal, const std::string& name, const Json& body);
  // Code::conflict, saying why, while it has members, jobs that have not ended, machines that stand, assets
  // or a window.
  Result<void> remove(const Principal& principal, const std::string& name);
  Result<void> add_member(const Principal& principal, const std::string& name, const std::string& username);
  Result<void> remove_member(const Principal& principal, const std::string& name,
                             const std::string& username);

 private:
  Result<Workgroup> get_in(db::Transaction& tx, const std::string& name);
  Result<Workgroup> with_members(db::Transaction& tx, Workgroup group);
  db::Sql& sql_;
  identity::Directory& directory_;
  audit::Log& audit_;
  Windows& windows_;
};

}  // namespace dash::windows
