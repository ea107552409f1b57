"""Compare what people get with the record of it, entry by entry.

    python -m tests.golden                   all parts; needs the built site
    python -m tests.golden problems doctor   these alone
    python -m tests.golden --write pages     keep what there is now, after a change on purpose

A commit that changes the record says why. Kept are words and numbers; not times, bytes, dates,
coordinates or fonts, nor what cells print that may vary.
"""

import argparse
import importlib

from tests.golden import record

PARTS = ("problems", "programs", "figures", "doctor", "marks", "pages")
MOST = 40  # lines of a difference that are shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="keep what there is now")
    parser.add_argument("--all", action="store_true", help="show every line that differs")
    given = parser.parse_args()
    if unknown := set(given.parts) - {*PARTS}:
        parser.error(f"no part is called {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    found = 0
    for part in given.parts or PARTS:
        now = record.plain(dict(importlib.import_module(f"tests.golden.{part}").entries()))
        if given.write:
            size = record.write(part, now)
            print(f"{part}: {len(now)} entries kept, {size:,} bytes")
            continue
        differing = list(record.differences(record.read(part), now))
        for name, lines in differing:
            shown = lines if given.all else lines[:MOST]
            print(f"\n{part}: {name}", *shown, sep="\n  ")
            if len(shown) < len(lines):
                print(f"  and {len(lines) - MOST} more lines")
        print(f"{part}: {len(differing)} of {len(now)} entries differ")
        found += len(differing)
    return found > 0


if __name__ == "__main__":
    raise SystemExit(main())
