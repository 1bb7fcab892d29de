#!/usr/bin/env python3
"""Writes `year.txt`: the occurrences of a year of schedules, calculated minute by minute.

    python3 make_table.py > year.txt
    python3 make_table.py --lines New_York/every_20 forbid catch_up

Uses only the standard library and shares nothing with the program that is tested against the table. The second
form prints one line for each occurrence of one schedule, to compare when a test fails.

RULES

Time. A schedule has planned instants: whole minutes of UTC. The table has those of 2027 in UTC, without the first minute,
at which all schedules were created.

Cron. Five fields: minute, hour, day of month, month, day of week (0 or 7 is Sunday). `L` as a day of the month is its
last day; `5#2` as a day of the week is the second Friday of a month. If neither of the two day fields is exactly `*`,
a day matches if one of them matches; otherwise both have to match.

Daylight saving time. A cron line is a line of *fixed times* if its minute field and its hour field have no `*` and no
`/`. Single values, lists and ranges are fixed times; the other three fields do not matter. Any other line is a line
of *intervals*.
 - Fixed times: a time that the local clock skips (gap) is planned at the first instant after the gap. A time that the
   local clock shows twice (overlap) is planned at the first of both instants. Times that come to the same instant are
   one occurrence: `10,40 2 * * *` has one occurrence at the end of a gap from 2:00 to 3:00.
 - Intervals: planned are the instants at which the local clock shows a time that matches. A skipped time has no
   occurrence, a repeated time has two. Hence intervals follow elapsed time.
 - `at` with a local time follows the rule of fixed times. `every` counts elapsed time from its anchor.

Daemon. It is down from the first to before the last minute of each down time. An occurrence that is planned while the daemon is
down is missed. At the minute of the restart, in this order:
 1. A run whose end lies in the down time ends now. (A run at work goes on after a restart.)
 2. Missed occurrences are treated by the missed rule: `skip` skips all of them; `run_once` runs the last of them;
    `catch_up` runs the last 3 of them. Those that run are put in the line of waiting occurrences, in order, whatever the
    overlap rule says; the others are skipped as missed. The line takes at most 10: those above are skipped as full.
 3. If no run is at work, the first of the line starts.
 4. The occurrence that is planned for this minute is treated by the overlap rule.
At each other minute: a run that has had its duration ends; the first of the line starts if no run is at work; then point 4.

Overlap rule, for an occurrence at its minute while a run is at work (or others wait):
 - `forbid`: it is skipped.
 - `queue`: it is put in the line; if 10 wait already, it is skipped as full.
 - `replace`: the run at work is cancelled, those that wait are skipped as replaced, and the occurrence starts.

FORMAT

    down ZONE A-B ...                         down times in minutes since 2027-01-01T00:00Z, B is the restart
    plan NAME | ZONE | SPEC | DURATION | MINUTES   differences between planned minutes, the first from 0
    runs NAME | OVERLAP | MISSED | OUTCOMES   one outcome for each planned minute

Outcomes: `r` started at its minute, `r5` five minutes later, with `x` behind it if the run was cancelled by its
replacement; `m` skipped as missed, `o` skipped by forbid, `f` skipped as full, `p` skipped as replaced, `w` waits at the
end of the year. `X*3` is X three times, `(X Y)*3` is both three times.
"""

import calendar
import random
import sys
from collections import deque
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

YEAR = 2027
START = datetime(YEAR, 1, 1, tzinfo=timezone.utc)
MINUTES = int((datetime(YEAR + 1, 1, 1, tzinfo=timezone.utc) - START).total_seconds()) // 60
WAITING_MAX = 10
CATCH_UP = 3
SEED = 20270101

ZONES = {
    "New_York": "America/New_York",      # gap 2:00-3:00 in March, overlap 1:00-2:00 in November
    "Sydney": "Australia/Sydney",        # overlap 2:00-3:00 in April, gap 2:00-3:00 in October
    "Lord_Howe": "Australia/Lord_Howe",  # overlap 1:30-2:00 in April, gap 2:00-2:30 in October
    "Santiago": "America/Santiago",      # overlap 23:00-24:00 in April, gap 0:00-1:00 in September
    "Kolkata": "Asia/Kolkata",           # no daylight saving time, half an hour beside UTC
}

# name, line, minutes that a run takes
CRON = [
    ("at_0230", "30 2 * * *", 10),
    ("at_0130", "30 1 * * *", 1500),
    ("at_0015", "15 0 * * *", 30),
    ("at_2345", "45 23 * * *", 30),
    ("weekdays", "0 8 * * 1-5", 60),
    ("list", "30 1,2,3 * * *", 65),
    ("list_in_gap", "10,40 2 * * 0,3", 20),
    ("range", "15 0-4 * * *", 50),
    ("all_hours_as_range", "0 0-23 * * *", 55),
    ("each_minute_of_weekends", "* 0-3,23 * 3,4,9,10,11 0,6", 1),
    ("every_20", "*/20 * * * *", 30),
    ("every_2_hours", "0 */2 * * *", 45),
    ("twice_an_hour", "10,40 * * * *", 20),
    ("steps_in_one_hour", "*/15 2 * * *", 20),
    ("step_in_range", "5 2-23/3 * * *", 540),
    ("day_or_weekday", "0 8 13 * 5", 15),
    ("step_day_or_weekday", "30 2 */10 * 1", 15),
    ("last_day", "0 9 L * *", 15),
    ("day_31", "0 12 31 * *", 15),
    ("leap_day", "30 2 29 2 *", 15),
    ("second_friday", "0 12 * * 5#2", 15),
    ("quarters", "59 23 1 1,4,7,10 *", 15),
]
EVERY = [("every_90", 90, 17, 270), ("every_1440", 1440, 150, 5)]
AT = {
    "New_York": [("at_gap", "2027-03-14T02:30"), ("at_overlap", "2027-11-07T01:30")],
    "Sydney": [("at_gap", "2027-10-03T02:10"), ("at_overlap", "2027-04-04T02:10")],
    "Lord_Howe": [("at_gap", "2027-10-03T02:29"), ("at_overlap", "2027-04-04T01:45")],
    "Santiago": [("at_gap", "2027-09-05T00:00"), ("at_overlap", "2027-04-03T23:59")],
    "Kolkata": [("at_noon", "2027-06-01T12:00")],
}
# All lines in the four zones with daylight saving time, two in the one without.
WITHOUT_DST = {"at_0230", "every_2_hours"}


def walls_of(zone):
    """Returns the local time of each minute as (year, month, day, hour, minute, weekday)."""
    tz = ZoneInfo(zone)
    walls = []
    for minute in range(-1, MINUTES):
        local = (START + timedelta(minutes=minute)).astimezone(tz)
        walls.append(local.replace(tzinfo=None))
    return walls


def numbers(field, low, high):
    """Returns the set of numbers that a field without `L` and `#` has."""
    found = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = low, high
        elif "-" in span:
            first, last = map(int, span.split("-"))
        else:
            first = last = int(span)
        found.update(range(first, last + 1, int(step or 1)))
    return found


class CronLine:
    def __init__(self, line):
        minute, hour, self.day, month, self.weekday = line.split()
        self.fixed = not any(sign in minute + hour for sign in "*/")
        self.minutes = numbers(minute, 0, 59)
        self.hours = numbers(hour, 0, 23)
        self.months = numbers(month, 1, 12)

    def matches(self, wall):
        if wall.minute not in self.minutes or wall.hour not in self.hours or wall.month not in self.months:
            return False
        if self.day == "*" or self.weekday == "*":
            return self.day_matches(wall) and self.weekday_matches(wall)
        return self.day_matches(wall) or self.weekday_matches(wall)

    def day_matches(self, wall):
        if self.day == "L":
            return wall.day == calendar.monthrange(wall.year, wall.month)[1]
        return wall.day in numbers(self.day, 1, 31)

    def weekday_matches(self, wall):
        cron_weekday = (wall.weekday() + 1) % 7
        if "#" in self.weekday:
            weekday, nth = map(int, self.weekday.split("#"))
            return cron_weekday == weekday and (wall.day - 1) // 7 + 1 == nth
        return cron_weekday in {number % 7 for number in numbers(self.weekday, 0, 7)}


def planned_by(walls, fixed, matches):
    """Walks over all minutes. `walls[m + 1]` is the local time of minute `m`."""
    planned = []
    latest = walls[0]
    for minute in range(MINUTES):
        wall = walls[minute + 1]
        if fixed:
            due = False
            # The local times since the latest that was shown: one if the clock runs evenly, none if it is shown again.
            step = latest + timedelta(minutes=1)
            while step <= wall:
                due = due or matches(step)
                step += timedelta(minutes=1)
            latest = max(latest, wall)
        else:
            due = matches(wall)
        if due and minute > 0:
            planned.append(minute)
    return planned


def transitions(walls):
    """Returns the minutes at which the local clock jumps."""
    return [m for m in range(1, MINUTES) if walls[m + 1] - walls[m] != timedelta(minutes=1)]


def down_times(zone_name, walls):
    """Returns random down times; two zones are down at their first change of the clock, the others at their second."""
    chance = random.Random(f"{SEED} {zone_name}")
    spans = []
    for _ in range(26):
        first = chance.randrange(1000, MINUTES - 6 * 1440)
        length = chance.choice([1, 2, 7, 30, 61, 100, 240, 700, 1440, 3000, 4500])
        spans.append((first, first + length))
    changes = transitions(walls)
    if changes:
        change = changes[0] if zone_name in ("New_York", "Santiago") else changes[1]
        spans.append((change - chance.randrange(5, 200), change + chance.randrange(5, 200)))
    merged = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged


class Simulation:
    """One schedule with one pair of rules, minute by minute."""

    def __init__(self, overlap, missed, duration):
        self.overlap, self.missed, self.duration = overlap, missed, duration
        self.running = None  # (planned minute, end)
        self.line = deque()
        self.outcomes = {}

    def start_first(self, now):
        if self.running is None and self.line:
            planned = self.line.popleft()
            self.running = (planned, now + self.duration)
            late = now - planned
            self.outcomes[planned] = f"r{late}" if late else "r"

    def wait(self, planned):
        if len(self.line) >= WAITING_MAX:
            self.outcomes[planned] = "f"
        else:
            self.line.append(planned)
            self.outcomes[planned] = "w"

    def restart(self, missed):
        kept = {"skip": 0, "run_once": 1, "catch_up": CATCH_UP}[self.missed]
        for index, planned in enumerate(missed):
            if index < len(missed) - kept:
                self.outcomes[planned] = "m"
            else:
                self.wait(planned)

    def on_time(self, now):
        busy = self.running is not None or self.line
        if busy and self.overlap == "forbid":
            self.outcomes[now] = "o"
            return
        if busy and self.overlap == "replace":
            if self.running is not None:
                self.outcomes[self.running[0]] += "x"
                self.running = None
            for planned in self.line:
                self.outcomes[planned] = "p"
            self.line.clear()
        self.wait(now)

    def minute(self, now, missed, planned_now):
        if self.running is not None and self.running[1] <= now:
            self.running = None
        self.restart(missed)
        self.start_first(now)
        if planned_now:
            self.on_time(now)
        self.start_first(now)


def simulate(planned, down, overlap, missed, duration):
    simulation = Simulation(overlap, missed, duration)
    due = set(planned)
    is_down = bytearray(MINUTES)
    for first, end in down:
        is_down[first:end] = b"\x01" * (end - first)
    passed_over = []
    for now in range(MINUTES):
        if is_down[now]:
            if now in due:
                passed_over.append(now)
            continue
        # A minute without anything to end, start or plan changes nothing.
        if passed_over or now in due or simulation.running is not None or simulation.line:
            simulation.minute(now, passed_over, now in due)
            passed_over = []
    return [simulation.outcomes[minute] for minute in planned]


def times(text, count):
    return text if count == 1 else f"{text}*{count}"


def compress(tokens):
    """Returns the tokens as text, with repetitions of single tokens and of groups counted."""
    runs = []
    for token in tokens:
        if runs and runs[-1][0] == token:
            runs[-1][1] += 1
        else:
            runs.append([token, 1])
    words = [times(token, count) for token, count in runs]
    out, at = [], 0
    while at < len(words):
        best = (0, 1, 1)
        for period in range(2, 25):
            group = words[at:at + period]
            if len(group) < period:
                break
            count = 1
            while words[at + count * period:at + (count + 1) * period] == group:
                count += 1
            if count > 1 and (count - 1) * period > best[0]:
                best = ((count - 1) * period, period, count)
        saved, period, count = best
        if saved:
            out.append(f"({' '.join(words[at:at + period])})*{count}")
            at += period * count
        else:
            out.append(words[at])
            at += 1
    return " ".join(out)


def schedules():
    """Yields name, zone, specification, duration, planned minutes and the down times."""
    for zone_name, zone in ZONES.items():
        walls = walls_of(zone)
        down = down_times(zone_name, walls)
        for name, line, duration in CRON:
            if zone_name == "Kolkata" and name not in WITHOUT_DST:
                continue
            cron = CronLine(line)
            yield f"{zone_name}/{name}", zone, f"cron {line}", duration, planned_by(walls, cron.fixed, cron.matches), down
        for name, text in AT[zone_name]:
            local = datetime.fromisoformat(text)
            yield f"{zone_name}/{name}", zone, f"at {text}", 15, planned_by(walls, True, local.__eq__), down
        if zone_name in ("New_York", "Lord_Howe"):
            for name, interval, anchor, duration in EVERY:
                planned = [m for m in range(1, MINUTES) if m >= anchor and (m - anchor) % interval == 0]
                yield f"{zone_name}/{name}", zone, f"every {interval} from {anchor}", duration, planned, down


RULES = [(o, m) for o in ("forbid", "queue", "replace") for m in ("skip", "run_once", "catch_up")]


def write_table():
    lines = []
    for zone_name, zone in ZONES.items():
        spans = " ".join(f"{first}-{end}" for first, end in down_times(zone_name, walls_of(zone)))
        lines.append(f"down {zone} {spans}")
    for name, zone, spec, duration, planned, down in schedules():
        steps = [str(minute - before) for before, minute in zip([0] + planned, planned)]
        lines.append(f"plan {name} | {zone} | {spec} | {duration} | {compress(steps)}")
        for overlap, missed in RULES:
            outcomes = simulate(planned, down, overlap, missed, duration)
            lines.append(f"runs {name} | {overlap} | {missed} | {compress(outcomes)}")
    print("# Made by make_table.py, which states the rules and the format.")
    print("\n".join(lines))


def write_lines(wanted, overlap, missed):
    for name, _, _, duration, planned, down in schedules():
        if name == wanted:
            for minute, outcome in zip(planned, simulate(planned, down, overlap, missed, duration)):
                print(minute, (START + timedelta(minutes=minute)).isoformat(), outcome)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--lines"]:
        write_lines(*sys.argv[2:5])
    else:
        write_table()
