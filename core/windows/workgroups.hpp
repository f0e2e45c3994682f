// Workgroups as the API edits them: their members, and the change window inside of which their changes are
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
  std::string display_name;  // the name where nothing else was given
  std::string description;
  Time created_at;
  std::optional<std::string> window_id, window_name;
  bool requires_window = false;
  std::vector<std::string> members;
};
OrderedJson to_json(const Workgroup& group);

// Checks that the workgroup of a change exists and is one of `principal`. Any other user than an admin gets
// Code::forbidden for an unknown one too, so that the answer does not reveal which exist. An admin gets
// Code::invalid.
Result<void> check_workgroup(const WorkgroupRule& rule, const Principal& principal, const std::string& name);
Result<void> check_workgroup(db::Transaction& tx, const Principal& principal, const std::string& name);

class Workgroups {
 public:
  Workgroups(db::Sql& sql, identity::Directory& directory, audit::Log& audit, Windows& windows)
      : sql_(sql), directory_(directory), audit_(audit), windows_(windows) {}

  Result<std::vector<Workgroup>> list();
  Result<Workgroup> get(const std::string& name);
  // The functions below are for admins with a sign-in (no tokens), and are audited.
  // `body`: {name, display_name?, description?}. A blank display name is Code::invalid.
  Result<Workgroup> create(const Principal& principal, const Json& body);
  // {display_name?, description?, change_window_id?, require_change_window?}: null leaves a value, "" clears it,
  // but for the display name, where it is Code::invalid. Attaching a window enforces it unless
  // require_change_window is false. Requiring one without a window is Code::invalid.
  Result<Workgroup> update(const Principal& principal, const std::string& name, const Json& body);
  // Code::conflict, with the reason, while it has members, jobs that have not ended, running machines, assets
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
