"""What people read: numbers, tables, charts and reports."""
