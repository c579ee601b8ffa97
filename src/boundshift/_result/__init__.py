"""What a search for a boundary returns, as a record, as JSON and as HTML."""
