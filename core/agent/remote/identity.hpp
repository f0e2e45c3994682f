// Who this agent is: identity.json of its state folder, in the format of the deployed agents and with the
// dashboard's address beside it. Written once, when it enrols.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/fd.hpp"
#include "core/base/secret.hpp"
#include "core/crypto/keys.hpp"

namespace dash::agent {

struct Identity {
  std::string agent_id;
  crypto::Ed25519Key key;
  std::string dashboard_public_key;  // standard base64 of 32 bytes
  std::string audience;              // the dashboard's pinned origin, signed into every request
  std::string url{};                 // where the dashboard is; empty in the file of a deployed agent
  std::string ca_bundle{};           // PEM file that is trusted beside the system's roots; may be empty
};

// Code::not_found when there is none, Code::usage when it cannot be read: a key that is there is never replaced.
Result<Identity> load_identity(const std::string& state_folder);
// Mode 0600, through a temporary file, fsync and rename. Code::conflict when there is one.
Result<void> save_identity(const std::string& state_folder, const Identity& identity);

// Makes the folder (0700) when it is absent, and proves that a file of mode 0600 can be written into it, so that an
// enrolment code is not spent for nothing. Code::usage.
Result<void> probe_state_folder(const std::string& state_folder);
// Holds the folder for one process. Code::conflict while another one has it.
Result<Fd> lock_state_folder(const std::string& state_folder);

// A share's password for this agent alone: "sealed:" and base64, encrypted under a key derived from the agent's.
inline constexpr std::string_view kSealedPrefix = "sealed:";
std::string seal_password(const Identity& identity, const Secret& password);
// Code::usage for a text that another agent sealed, or that was changed.
Result<Secret> open_sealed_password(const Identity& identity, std::string_view sealed);

}  // namespace dash::agent
