// A dashboard behind the interface HttpClient, in memory: the setup routes of dashctl or, with is_peer, those
// of a Python dashboard (no denylist, no blind comparison, no history, region fields of its model only). It
// records what was written.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/net/http/http_client.hpp"

namespace dash {

class FakeDashboard final : public net::HttpClient {
 public:
  // In the other side's spelling.
  std::map<std::string, std::string> config;
  std::set<std::string> masked;
  std::vector<Json> endpoints;
  std::map<std::string, std::string> endpoint_urls;  // id → url
  bool is_peer = false;
  bool complete = true;
  bool has_compare = true;
  bool refuses_endpoints = false;
  bool loses_writes = false;  // answers 200 and stores nothing
  // "POST /api/setup/import": done, and the connection is lost from its response on
  std::string cut_at;
  std::set<std::string> refuses;
  std::string change_id = "change-1";

  std::vector<Json> imports;          // bodies of POST /api/setup/import
  std::vector<std::string> requests;  // "GET /api/setup/status"
  std::vector<std::string> tokens;    // Authorization as sent

  Result<net::HttpResponse> send(const net::HttpRequest& request) override;

 private:
  net::HttpResponse import(const Json& body);
  net::HttpResponse compare(const Json& body);
  net::HttpResponse put_endpoint(const std::string& id, const Json& body);
};

}  // namespace dash
