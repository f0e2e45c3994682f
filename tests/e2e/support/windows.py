"""Change windows over HTTP."""
from datetime import datetime, timedelta, timezone


def clock(offset_hours):
    """HH:MM in UTC so many hours from now."""
    return (datetime.now(timezone.utc) + timedelta(hours=offset_hours)).strftime("%H:%M")


def window(http, name, start, minutes=60, **more):
    answer = http.post("/api/change-windows", {"name": name, "start_at_local": start, "duration_minutes": minutes, **more})
    assert answer.status == 201, answer
    return answer.json
