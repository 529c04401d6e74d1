"""What the package rests on: licences and advisories of its dependencies; see SECURITY.md."""
