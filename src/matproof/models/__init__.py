"""Talking to model APIs: the gateway, prices and usage, scripted and replayed replies."""
