// Rows of routes whose requests an agent signs (/api/agent/*).
#pragma once
#include <functional>
#include <string>

#include "core/agent/dashboard/agent.hpp"
#include "core/app/application.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

using AgentHandler = Result<Response>(app::Application& app, const agent::Agent& agent, Request& request);

// The caller is decided upon before the body is read, and authenticated by the signature over it when the handler is
// called.
Route agent_route(app::Application& app, const std::string& pattern, std::uint64_t max_body,
                  AgentHandler* handler);

// Returns what the client knows this server by: "https://host:port". Empty when the request has no usable Host.
std::string request_origin(const Request& request);

}  // namespace dash::daemon
