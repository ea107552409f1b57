"""Commands of the course; each module says what it is for."""

import sys

# jsonschema checks international addresses with this. No file here has one, and it takes 2 s to
# import.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
