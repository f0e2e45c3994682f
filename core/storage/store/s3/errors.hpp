// What S3's refusals mean, and what to do about them. Pure. Called by store.cpp.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/storage/store/s3/address.hpp"
#include "core/storage/store/s3/codec.hpp"

namespace dash::storage::s3 {

// Returns the error of a response outside of 2xx. `now` is this machine's time, to detect a wrong clock.
Error read_error(const net::HttpResponse& response, const Address& address, std::string_view where, Time now);
// Returns the error of an <Error> in a response with status 200.
Error error_in_body(const StoreError& refusal, std::string_view where);

}  // namespace dash::storage::s3
