// Enrols this machine: everything that could fail here is tried before the code is spent.
#pragma once
#include "core/agent/remote/dashboard_client.hpp"
#include "core/agent/remote/settings.hpp"

namespace dash::agent {

// Returns the new identity, which is on the disk then. A policy that is there must be good: its hash goes with the
// request.
// Code::conflict when this state folder is enrolled already; Code::usage for what is misconfigured here.
Result<Identity> enrol_here(net::HttpClient& http, const Settings& settings, const Secret& code);

// The identity of the state folder; enrols first when there is none and a code is given. Code::usage says how to
// enrol.
Result<Identity> identity_or_enrol(net::HttpClient& http, const Settings& settings);

// Where the dashboard of an identity is: the settings' address, else the one that it enrolled at. Code::usage.
Result<DashboardAddress> address_of(const Identity& identity, const Settings& settings);

}  // namespace dash::agent
