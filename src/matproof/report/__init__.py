"""Tables into a static site."""
