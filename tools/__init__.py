"""Commands of the course; each module says what it is for."""

import sys

# jsonschema's check of international addresses: no file here has one, and it takes 2 s to import.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
