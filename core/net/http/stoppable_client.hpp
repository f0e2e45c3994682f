// A client whose exchanges can be ended from outside, for a request that waits for its answer on purpose.
#pragma once
#include <functional>
#include <memory>

#include "core/net/http/http_client.hpp"

namespace dash::net {

// As make_curl_client(). `should_stop` is called about once a second while nothing arrives, and more often
// otherwise, from the thread of the exchange; true ends that with Code::interrupted.
std::unique_ptr<HttpClient> make_stoppable_client(std::function<bool()> should_stop);

}  // namespace dash::net
