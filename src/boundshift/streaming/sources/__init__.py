"""Where labelled scores are read from, one library a file."""
