#include "core/windows/zone.hpp"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include "core/base/utf8.hpp"

namespace dash::windows {
namespace {

Result<absl::TimeZone> load(const std::string& name) {
  absl::TimeZone zone;
  // cctz also accepts "localtime" and file names, and stops at a NUL; none of it is a name of the database.
  bool plain = !name.empty() && !has_control_character(name) && name != "localtime" && name[0] != '/' &&
               name[0] != ':' && !name.starts_with("file:");
  if (!plain || !absl::LoadTimeZone(name, &zone))
    return fail(Code::invalid, "'{}' is not a time zone of the IANA database; write one like Europe/London",
                name);
  return zone;
}

}  // namespace

bool is_zone(const std::string& name) { return load(name).has_value(); }

Result<Time> to_utc(const std::string& name, LocalTime local) {
  auto zone = TRY(load(name));
  auto civil = absl::CivilSecond(1970, 1, 1, 0, 0, 0) + local.time_since_epoch().count();
  return absl::ToChronoTime(zone.At(civil).pre);
}

Result<LocalTime> to_local(const std::string& name, Time time) {
  auto zone = TRY(load(name));
  auto civil = zone.At(absl::FromChrono(time)).cs;
  return LocalTime(std::chrono::seconds(civil - absl::CivilSecond(1970, 1, 1, 0, 0, 0)));
}

}  // namespace dash::windows
