"""What grading leaves for people: tables, pages, zips and a ledger."""
